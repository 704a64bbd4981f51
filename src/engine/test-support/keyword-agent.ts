/** An agent that does what its message says in a word, for tests that want tasks in every state. */
import type { Json } from '../../core/values/json.ts'
import type { Agent } from '../author/agent.ts'
import type { AgentTask } from '../author/agent-task.ts'
import { aborted, running } from './engine-harness.ts'

export const keywordRuns: Readonly<Record<string, (task: AgentTask) => Promise<unknown>>> = {
  async work(task) {
    await task.step('long', async ({ signal: abort, attempt }) => {
      if (attempt === 1) await aborted(abort)
    })
    return 'worked'
  },
  async park(task) {
    const { input, cause, event } = await task.park({ reason: 'parked', onEvent: 'go' })
    return { input, cause, event: event?.type ?? null }
  },
  async timeout(task) {
    const timeout = { durationMinutes: 1, onTimeout: 'fail' } as const
    return task.park({ reason: 'parked', timeout })
  },
  ask: async (task) => (await task.ask('?')).text,
  end: async () => 'ended',
}

export const keywordAgent: Agent = running(async (task) => {
  const result = await keywordRuns[task.text]?.(task)
  await task.artifact({ name: 'result', data: (result ?? null) as Json })
})
