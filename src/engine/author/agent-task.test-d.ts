/** What authors may pass where JSON is expected, and how they write time. Checked by `tsc`; nothing here runs. */
import { z } from 'zod'
import type { Duration } from '../../core/values/duration.ts'
import type { Engine } from '../engine.ts'
import { type Agent, agent } from './agent.ts'
import type { AgentTask, Turn } from './agent-task.ts'

interface Plan {
  readonly sha: string
  readonly files: readonly string[]
  readonly parent?: Plan
}

declare const plan: Plan
// biome-ignore lint/style/noRestrictedGlobals: only its type
declare const date: Date

/** An interface has no index signature, and is welcome all the same. */
export async function interfaces(task: AgentTask, turn: Turn, engine: Engine): Promise<void> {
  await task.artifact({ name: 'plan', data: plan, metadata: plan })
  await task.artifact({ parts: [{ data: plan, metadata: plan }] })
  await task.say([{ data: plan }])
  await task.ask([{ text: 'ok?' }, { data: [plan] }])
  await task.requireConsent({ prompt: 'ok?', operation: plan, scope: plan })
  turn.record('agent', plan)
  task.log('info', 'planned', plan)
  const child = await task.delegate('other', [{ data: plan }])
  await child.resume({ input: plan })
  const ann = { tenant: 'default', principal: 'ann' }
  await engine.send(ann, {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: plan }], metadata: plan },
  })
  await engine.resume(ann, { taskId: 't', input: plan })
  await task.continueAs(plan)
}

export const returned: readonly unknown[] = [
  agent({ name: 'a', description: 'a', run: () => ({ name: 'plan', data: plan }) }),
  agent({ name: 'a', description: 'a', run: () => [{ data: plan }] }),
  agent({ name: 'a', description: 'a', receive: (_, { reply }) => reply([{ data: plan }]) }),
]

export async function refused(task: AgentTask): Promise<void> {
  // @ts-expect-error a Date comes back as text
  await task.artifact({ data: date })
  // @ts-expect-error a Map comes back empty
  await task.artifact({ data: new Map([['a', 1]]) })
  // @ts-expect-error a Promise comes back empty
  await task.continueAs(Promise.resolve(plan))
  // @ts-expect-error a function is no JSON
  await task.say([{ data: () => plan }])
}

export async function times(task: AgentTask): Promise<void> {
  const week: Duration = '1 week'
  await task.sleep(week)
  await task.sleep('1.5 hours')
  await task.sleep({ until: date })
  await task.step('work', () => 1, {
    timeoutMs: '30 seconds',
    retry: { attempts: 2, backoffMs: 100, maxBackoffMs: '1 minute' },
  })
  await task.park({ reason: 'x', timeout: { afterMs: '2 days', onTimeout: 'fail' } })
  await task.park({ reason: 'x', timeout: { durationMinutes: 30 } })
  // @ts-expect-error no unit
  await task.sleep('3')
  // @ts-expect-error no such unit
  await task.sleep('3 fortnights')
}

const city = z.object({ city: z.string(), nights: z.number().default(1) })

/** `task.input` and the value of an answer have the types of their schemas. */
export const typed: readonly Agent[] = [
  agent({
    name: 'a',
    description: 'a',
    input: city,
    run: async (task) => {
      task.input satisfies { city: string; nights: number }
      const { value } = await task.ask({ text: '?', schema: city })
      value satisfies { city: string; nights: number }
      const chosen = await task.ask({ text: '?', choices: ['a', { value: 'b', label: 'B' }] })
      chosen.value satisfies 'a' | 'b'
      const { text } = await task.ask('?')
      return text
    },
  }),
  agent({
    name: 'a',
    description: 'a',
    run: (task) => {
      task.input satisfies undefined
      return helper(task)
    },
  }),
  agent({
    name: 'a',
    description: 'a',
    // @ts-expect-error a Date comes back as text
    input: z.object({ at: z.date() }),
    run: () => 'x',
  }),
]

/** A function for every agent. */
function helper(task: AgentTask): string {
  return task.text
}
