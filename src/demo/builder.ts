/** Starts a build on a CI server and parks until it is done. A parked task costs one row in the store. */

import type { Wake } from '../core/suspension.ts'
import type { Json } from '../core/values/json.ts'
import { type Agent, agent, type Outcome } from '../engine/author/agent.ts'
import type { AgentTask } from '../engine/author/agent-task.ts'

export const builder: Agent = agent({
  name: 'builder',
  description: 'Starts a pretend CI build, parks until it is done and reports',
  skills: [
    {
      id: 'build',
      name: 'Build a branch',
      description: 'Starts a build and waits for ci.build.completed:<build>',
      tags: ['ci'],
      examples: ['Build main', 'Run build 1234 of main'],
    },
  ],
  run: buildRequest,
})

/** How long the simulated build takes when no event arrives. */
const BUILD_MINUTES = 10

export async function buildRequest(task: AgentTask): Promise<Outcome> {
  const build = await task.step('start ci', () => startBuild(task))
  await task.say(`Build ${build.id} of ${build.branch} has started`)

  const wake = await task.park({
    reason: `waiting on ci/build:${build.id}`,
    onEvent: `ci.build.completed:${build.id}`,
    timeout: { durationMinutes: BUILD_MINUTES, onTimeout: 'resume_with_input', input: 'passed' },
    summary: `Paused on CI build ${build.id}`,
  })

  const result = resultOf(wake)
  await task.artifact({
    name: `build-${build.id}.log`,
    description: `Log of build ${build.id}.`,
    text: `branch ${build.branch}\nwoken by ${wake.cause}\nresult ${result}\n`,
    mediaType: 'text/plain',
  })
  if (result === 'failed') throw new Error(`Build ${build.id} of ${build.branch} failed`)
  return `Build ${build.id} of ${build.branch} ${result}`
}

interface Build {
  readonly id: string
  readonly branch: string
}

/** The build number in the request, so that a demonstration can choose it. Otherwise derived from the task id. */
function startBuild({ id, text }: AgentTask): Build {
  const branch = /\b(?:of|branch)\s+([\w./-]*\w)/i.exec(text)?.[1] ?? 'main'
  const wanted = /\bbuild\s+#?(\d+)\b/i.exec(text)?.[1]
  return { id: wanted ?? id.slice(-8), branch }
}

/** An event has the result in its data, a resume in its input. */
function resultOf({ event, input }: Wake): string {
  const said: Json | undefined = event !== undefined && 'data' in event ? event.data : input
  if (typeof said === 'string') return said
  const status = (said as { readonly status?: Json } | null | undefined)?.status
  return typeof status === 'string' ? status : 'passed'
}
