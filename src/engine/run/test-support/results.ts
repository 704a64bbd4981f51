/** What came of a run, as data a test can look at. For tests only. */
import type { Json } from '../../../core/values/json.ts'
import type { Agent } from '../../author/agent.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import { createHarness, dataOf, running } from '../../test-support/engine-harness.ts'

/** Keeps what `run` returns as data, so that a test can look at it. */
export const keeping = (run: (task: AgentTask) => Promise<unknown>): Agent =>
  running(async (task) => {
    await task.artifact({ name: 'result', data: ((await run(task)) ?? null) as Json })
  })

export async function resultOf(
  run: (task: AgentTask) => Promise<unknown>,
): Promise<Json | undefined> {
  const harness = await createHarness({ agents: [keeping(run)], options: { stepResultBytes: 100 } })
  const { id } = await harness.send('go')
  await harness.pass(10_000)
  return dataOf(await harness.until(id, 'completed'), 'result')
}

export const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch(({ name, code, message }: { name: string; code?: string; message: string }) => ({
    name,
    ...(code === undefined ? {} : { code }),
    message,
  }))
