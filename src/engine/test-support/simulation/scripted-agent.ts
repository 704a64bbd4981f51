/**
 * The agent of the simulation. Its message is a list of letters, one per operation: `s` a step, `p` a park, `e` a park until
 * the event of the task, `t` a park with a timeout, `c` a child that does one step, `k` a park until
 * such a child ends, `w` hundreds of steps side by side, of
 * which half end at once, `b` a step that blocks its process, `u` branches that report what they use. For tests only.
 */

import { type Agent, agent } from '../../author/agent.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import type { Schedule } from '../../wakes/schedules/schedule.ts'

/** Told when a step begins. */
export type StepBegins = (taskId: string, name: string) => void

/** The event that wakes the task. */
export function eventOf(taskId: string): string {
  return `wake-${taskId}`
}

export interface ScriptedAgentOptions {
  readonly begins: StepBegins
  readonly concurrency: number
  /** The process stands still. Resolves when it goes on. */
  readonly block?: () => Promise<void>
  readonly schedule?: readonly Schedule[]
}

type Operation = (task: AgentTask, index: number, given: ScriptedAgentOptions) => Promise<unknown>

/** How many steps a wide task has side by side. */
const WIDTH = 200
const SHORT_TURNS = 3
const LONG_TURNS = 60

function step(
  task: AgentTask,
  name: string,
  { begins }: ScriptedAgentOptions,
  turns = SHORT_TURNS,
): Promise<string> {
  return task.step(name, async ({ signal }) => {
    begins(task.id, name)
    for (let turn = 0; turn < turns; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
    }
    return name
  })
}

const operations: Readonly<Record<string, Operation>> = {
  s: (task, index, given) => step(task, `s${index}`, given),
  p: (task, index) => task.park({ reason: `p${index}` }),
  e: (task, index) => task.park({ reason: `e${index}`, onEvent: eventOf(task.id) }),
  t: (task, index) => task.park({ reason: `t${index}`, timeout: { durationMinutes: 0.05 } }),
  async c(task) {
    const child = await task.delegate('simulated', 's')
    return child.result()
  },
  async k(task, index) {
    const child = await task.delegate('simulated', 's')
    const { child: ended } = await task.park({ reason: `k${index}`, child })
    // Whoever resumed the park earlier, the child is waited for.
    return ended ?? child.result()
  },
  w: (task, index, given) =>
    Promise.all(
      Array.from({ length: WIDTH }, (_, n) =>
        step(task, `w${index}-${n}`, given, n % 2 === 0 ? 0 : LONG_TURNS),
      ),
    ),
  async b(task, index, given) {
    await task.step(`b${index}`, async () => {
      given.begins(task.id, `b${index}`)
      await given.block?.()
    })
    // The first thing that the code does after it has blocked.
    await step(task, `after-b${index}`, given)
  },
  u: (task, index, given) =>
    Promise.all(
      ['x', 'y', 'z'].map(async (branch) => {
        await step(task, `u${index}${branch}1`, given)
        await task.usage({ inputTokens: 1 })
        await step(task, `u${index}${branch}2`, given)
      }),
    ),
}

export function createScriptedAgent(given: ScriptedAgentOptions): Agent {
  const { concurrency, schedule } = given
  return agent({
    name: 'simulated',
    description: 'does what the letters of its message say',
    concurrency,
    ...(schedule === undefined ? {} : { schedule }),
    async run(task) {
      for (const [index, letter] of [...task.text].entries()) {
        await operations[letter]?.(task, index, given)
      }
      return 'done'
    },
  })
}
