/** The benchmarks fill stores with logs that the core makes. These must be logs that the program can go on with. */
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../src/stores/sqlite/test-support/processes.ts'

const harness = (file: string) =>
  import(new URL(`../../bench/harness/${file}`, import.meta.url).href)

it('fills a store with parked tasks that wake, go on and have genuine receipts', async () => {
  const { fill } = await harness('fill.mjs')
  const { caller, openEngine } = await harness('lull.mjs')
  const { parkedLife, sleeper } = await harness('parked.mjs')
  const { farTimeout: timeoutOf } = await harness('filled.mjs')
  const path = `${await temporaryDirectory()}/data`
  await fill({ path, count: 3, life: await parkedLife(timeoutOf), at: Date.now() })
  const { engine, close } = await openEngine({ path, agents: [await sleeper({ timeoutOf })] })
  const { tasks } = await engine.list(caller)
  expect(tasks.map(({ state }: { readonly state: string }) => state)).toEqual(
    Array.from({ length: 3 }, () => 'paused-by-agent'),
  )
  const [{ id }] = tasks
  expect((await engine.verify(caller, id)).faults).toEqual([])
  await engine.resume(caller, { taskId: id })
  const ended = ({ state }: { readonly state: string }) => state === 'completed'
  expect((await engine.waitFor(caller, id, ended)).state).toBe('completed')
  await close()
})
