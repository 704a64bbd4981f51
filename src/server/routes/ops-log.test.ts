/** Cites L1 and L2 of protocols/ops/log.ts. Read as `lull replay` reads it. */
import { expect, it } from 'vitest'
import { createOps, type Ops } from '../../client/ops-client.ts'
import { checkRecorded } from '../../engine/requests/replay/check-recorded.ts'
import {
  createHarness,
  type Harness,
  olga,
  running,
} from '../../engine/test-support/engine-harness.ts'
import { owner } from '../auth/identity.ts'
import { createApp } from '../http/app.ts'
import { recordedIn } from '../replay/replay-report.ts'

const url = 'http://127.0.0.1:8787'

/** A server with one task that has made that many steps and waits for `on`. */
async function serving(steps: number, result: string) {
  const agent = running(async (task) => {
    for (let step = 0; step < steps; step++) await task.step('work', () => result)
    for (;;) await task.park({ reason: 'x', onEvent: 'on' })
  })
  const harness = await createHarness({ agents: [agent] })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  const { engine } = harness
  const app = createApp({ engine, log: () => undefined, url, identityOf: () => owner })
  const asked: string[] = []
  const fetch = async (address: string, init?: RequestInit): Promise<Response> => {
    asked.push(address)
    return app.request(address, init)
  }
  const ops = createOps({ url, tenant: '*', fetch: fetch as typeof globalThis.fetch })
  return { harness, id, ops, asked }
}

async function wake(harness: Harness, id: string): Promise<void> {
  const { epoch } = await harness.get(id)
  await harness.emit('on')
  await harness.until(id, (task) => task.epoch > epoch && task.state === 'paused-by-agent')
}

async function pagesOf(ops: Ops, id: string, limit: number, between = async () => undefined) {
  const first = await ops.logPage(id, { limit })
  const pages = [first]
  for (let { cursor } = first; cursor !== undefined; ) {
    await between()
    const page = await ops.logPage(id, { cursor, limit })
    pages.push(page)
    cursor = page.cursor
  }
  return pages
}

it('L2: a log that is longer than a page is read page by page, and folds to the task', async () => {
  const { harness, id, ops, asked } = await serving(1_500, 'done')
  const { records } = await harness.engine.recorded(olga, id)
  const log = await ops.log(id)
  expect(asked).toHaveLength(Math.ceil(records.length / 1_000))
  expect(log.records).toEqual(JSON.parse(JSON.stringify(records)))
  expect(checkRecorded(recordedIn(log))).toMatchObject({ differences: [], faults: [] })
})

it('L1: records that are written between two pages are on none of them', async () => {
  const { harness, id, ops } = await serving(3, 'done')
  const before = await harness.engine.recorded(olga, id)
  const pages = await pagesOf(ops, id, 2, async () => void (await wake(harness, id)))
  expect(pages.map(({ records }) => records.length)).toContain(2)
  expect(pages.length).toBe(Math.ceil(before.records.length / 2))
  expect(pages.flatMap(({ records }) => records.map(({ seq }) => seq))).toEqual(
    before.records.map(({ seq }) => seq),
  )
  expect(pages.map((page) => page.task !== undefined)).toEqual(pages.map((_, n) => n === 0))
  expect((await harness.get(id)).version).toBeGreaterThan(before.task.version)
})

it('L2: pages of large records have fewer of them', async () => {
  const { id, ops } = await serving(10, 'x'.repeat(900_000))
  const pages = await pagesOf(ops, id, 1_000)
  const steps = pages.map(({ records }) => records.filter(({ type }) => type === 'step').length)
  expect(Math.max(...steps)).toBe(4)
  expect(steps.reduce((sum, count) => sum + count)).toBe(10)
})

it.each(['x', '1', '1~', '~1', '-1~2'])('refuses the cursor %s', async (cursor) => {
  const { id, ops } = await serving(0, '')
  await expect(ops.logPage(id, { cursor })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
})

it('a cursor behind the end of the log gives an empty last page', async () => {
  const { id, ops } = await serving(0, '')
  expect(await ops.logPage(id, { cursor: '999999~999998' })).toEqual({ records: [] })
})
