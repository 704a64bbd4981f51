/** P1 and P4 of `scheduler.ts` with real processes, some of which are killed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createScheduleStates } from '../../src/engine/wakes/schedules/schedule-state.ts'
import type { Store } from '../../src/ports/store.ts'
import { systemClock } from '../../src/server/system/clock.ts'
import { type LullProcess, serving } from '../scenarios/lull-process.ts'
import { openTestStore, removeTestStore } from '../support/test-store.ts'

const index = new URL('../../dist/index.js', import.meta.url).href

const ID = 'worker:often'

let data: string
let store: Store
const processes: LullProcess[] = []
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-schedules-'))
  store = await openTestStore(data)
})
afterEach(async () => {
  for (const one of processes.splice(0)) one.signal('SIGKILL')
  await store.close()
  rmSync(data, { recursive: true, force: true })
  await removeTestStore(data)
})

/** The times that have started a task, in order. */
async function startedTimes(): Promise<readonly number[]> {
  const rows = await store.list({ limit: 100 })
  const logs = await Promise.all(rows.map(({ tenant, id }) => store.records(tenant, id, 0, 1)))
  return logs
    .flatMap(([first]) => (first?.type === 'submitted' ? [first] : []))
    .map(
      ({ message }) => Date.parse(message.messageId.slice('schedule:worker:often:'.length)) / 1_000,
    )
    .sort((a, b) => a - b)
}

async function start(): Promise<LullProcess & { readonly url: string }> {
  const module = join(data, 'agents.mjs')
  writeFileSync(
    module,
    `import { agent } from '${index}'
     export default [agent({
       name: 'worker', description: 'Works',
       schedule: [{ name: 'often', every: '1 second', message: 'go' }],
       run: () => 'done',
     })]`,
  )
  const one = await serving(['serve', module, '--port', '0', '--data', data])
  processes.push(one)
  return one
}

const atLeast = (count: number) =>
  expect.poll(async () => (await startedTimes()).length).toBeGreaterThan(count)

it('starts one task at each second with four processes, also when two are killed', async () => {
  await Promise.all([1, 2, 3, 4].map(start))
  await atLeast(2)
  processes[0]?.signal('SIGKILL')
  processes[1]?.signal('SIGKILL')
  const before = (await startedTimes()).length
  await atLeast(before + 2)
  const times = await startedTimes()
  const [first = 0] = times
  expect(times).toEqual(times.map((_, index) => first + index))
})

it('stays paused when the process is killed that paused it, and starts no time of the pause later', async () => {
  const states = createScheduleStates(store, systemClock)
  const handledUntil = async () => (await states.read(ID))?.handledUntil ?? 0
  const act = async ({ url }: { readonly url: string }, what: string) => {
    const answer = await fetch(`${url}/ops/schedules/${ID}/${what}`, { method: 'POST' })
    expect(answer.status).toBe(200)
  }
  const first = await start()
  await atLeast(0)
  await act(first, 'pause')
  first.signal('SIGKILL')
  await first.ended
  const second = await start()
  // What the killed process had sent to the database is written by now.
  const before = await startedTimes()
  const paused = await handledUntil()
  await expect.poll(handledUntil).toBeGreaterThan(paused + 2_000)
  expect(await startedTimes()).toEqual(before)
  const until = await handledUntil()
  await act(second, 'resume')
  await atLeast(before.length)
  const [next = 0] = (await startedTimes()).slice(before.length)
  expect(next * 1_000).toBeGreaterThan(until)
})
