/**
 * The agent of the simulation. Its message is a list of letters, one per operation: `s` a step, `p` a park, `e` a park until
 * the event of the task, `t` a park with a timeout, `c` a child that does one step. For tests only.
 */

import { type Agent, agent } from '../../agent.ts'
import type { AgentTask } from '../../agent-task.ts'

/** Told when a step begins. */
export type StepBegins = (taskId: string, name: string) => void

/** The event that wakes the task. */
export function eventOf(taskId: string): string {
  return `wake-${taskId}`
}

type Operation = (task: AgentTask, index: number, begins: StepBegins) => Promise<unknown>

const operations: Readonly<Record<string, Operation>> = {
  s: (task, index, begins) =>
    task.step(`s${index}`, async ({ signal }) => {
      begins(task.id, `s${index}`)
      for (let turns = 0; turns < 3; turns++) {
        await new Promise((resolve) => setImmediate(resolve))
        signal.throwIfAborted()
      }
      return index
    }),
  p: (task, index) => task.park({ reason: `p${index}` }),
  e: (task, index) => task.park({ reason: `e${index}`, onEvent: eventOf(task.id) }),
  t: (task, index) => task.park({ reason: `t${index}`, timeout: { durationMinutes: 0.05 } }),
  async c(task) {
    const child = await task.delegate('simulated', 's')
    return child.result()
  },
}

export function createScriptedAgent(begins: StepBegins, concurrency: number): Agent {
  return agent({
    name: 'simulated',
    description: 'does what the letters of its message say',
    concurrency,
    async run(task) {
      for (const [index, letter] of [...task.text].entries()) {
        await operations[letter]?.(task, index, begins)
      }
      return 'done'
    },
  })
}
