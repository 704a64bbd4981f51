/** Whose death it was: X1 to X3 of `suspects.ts`. */
import { expect, it } from 'vitest'
import type { AgentTask } from '../author/agent-task.ts'
import { createHarness, type Harness, running } from '../test-support/engine-harness.ts'

const LONG_MS = 30_000

/** One task ends its process when its step has run for a while; the others have a step that takes long. */
function createDay(deadlyAfterMs: number, count: number) {
  let harness: Harness
  let deaths = 0
  const begun: string[] = []
  const wait = (ms: number) =>
    new Promise<string>((done) => void harness.clock.after(ms, () => done('done')))
  const agent = running(
    (task: AgentTask) =>
      task.step('work', async () => {
        begun.push(task.text)
        if (task.text !== 'deadly') return wait(LONG_MS)
        await wait(deadlyAfterMs)
        deaths++
        harness.crash()
        return 'dead'
      }),
    { concurrency: count },
  )
  return {
    begun,
    deaths: () => deaths,
    async start(): Promise<readonly string[]> {
      harness = await createHarness({ agents: [agent] })
      const texts = Array.from({ length: count - 1 }, (_, n) => `long ${n}`)
      texts.splice(Math.floor(count / 2), 0, 'deadly')
      const ids: string[] = []
      for (const text of texts) ids.push((await harness.send(text)).id)
      return ids
    },
    /** Lets time pass; whenever the process has died, another one goes on. */
    async pass(ms: number): Promise<Harness> {
      for (let passed = 0; passed < ms; passed += 1_000) {
        const before = deaths
        await harness.pass(1_000)
        if (deaths > before) harness = await harness.recover()
      }
      return harness
    },
  }
}

it.each([
  [500, 4],
  [5_000, 12],
])(
  'X1 to X3: a task that ends its process after %i ms is stopped, and the %i others come to their end',
  async (after, count) => {
    const day = createDay(after, count)
    const ids = await day.start()
    const harness = await day.pass(1_200_000)
    const tasks = await Promise.all(ids.map((id) => harness.get(id)))
    const stopped = tasks.filter(({ suspension }) => suspension?.reason === 'crash-loop')
    expect(stopped.map(({ history }) => history[0]?.parts)).toEqual([[{ text: 'deadly' }]])
    expect(tasks.filter(({ state }) => state === 'completed')).toHaveLength(count - 1)
    expect(day.deaths()).toBe(5)
  },
)
