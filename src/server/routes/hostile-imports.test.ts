/** Imports with hostile values in records of every type: refused with a path, or everything goes on answering. */
import { expect, it } from 'vitest'
import { fold } from '../../core/evolve.ts'
import type { TaskExport } from '../../core/receipts/task-export.ts'
import type { LogRecord, RecordType } from '../../core/records.ts'
import { rowOf } from '../../engine/ledger/row.ts'
import { running } from '../../engine/test-support/engine-harness.ts'
import { examples } from '../../engine/test-support/record-examples.ts'
import { createA2A, ownTaskScopes } from '../../protocols/a2a/index.ts'
import { anyone, openHarness } from '../../protocols/acp/test-support/harness.ts'
import { owner } from '../auth/identity.ts'
import { createApp } from '../http/app.ts'
import { createIds } from '../system/ids.ts'
import { exampleFile, lastRecord } from '../test-support/fuzz/example-file.ts'
import { hostile, placesIn, withValue } from '../test-support/fuzz/hostile-values.ts'

const types = Object.keys(examples) as RecordType[]

const parks = running(
  async (task) => {
    await task.park({ reason: 'x', onEvent: 'go' })
  },
  { name: 'parent' },
)

async function openServer() {
  const { engine, store, clock, editor } = await openHarness({ agents: [parks] })
  const ids = createIds(clock.now)
  const url = 'http://lull.test'
  const log = (): void => undefined
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl: url })
  const app = createApp({ engine, log, url, identityOf: () => owner })
  const post = async (file: TaskExport, start: boolean) => {
    const body = JSON.stringify({ ...file, start })
    const response = await app.request('/ops/imports', { method: 'POST', body })
    return { status: response.status, text: await response.text() }
  }
  const get = async (path: string): Promise<number> => (await app.request(path)).status
  const call = async (version: string, method: string, params: object): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'a2a-version': version, 'content-type': 'application/json' }
    const request = new Request(url, { method: 'POST', body, headers })
    const response = await a2a.fetch(request, { caller: anyone, may: ownTaskScopes })
    return (await response?.text()) ?? ''
  }
  return { post, get, call, app, store, editor: await editor() }
}

type Server = Awaited<ReturnType<typeof openServer>>

interface Page {
  readonly tasks: readonly { readonly taskId: string }[]
  readonly cursor?: string
}

async function answersFor({ get, call }: Server, id: string): Promise<void> {
  for (const path of ['', '/timeline', '/receipts', '/export', '/log']) {
    expect([path, await get(`/ops/tasks/${id}${path}`)]).toEqual([path, 200])
  }
  expect(await call('1.0', 'GetTask', { id })).toContain('"result"')
  expect(await call('0.3', 'tasks/get', { id })).toContain('"result"')
}

async function listsAnswer({ get, call, editor }: Server): Promise<void> {
  for (const path of ['/ops/tasks?limit=100', '/ops/tasks?q=words', '/ops/waiting?limit=100']) {
    expect([path, await get(path)]).toEqual([path, 200])
  }
  expect(await call('1.0', 'ListTasks', { pageSize: 100 })).toContain('"result"')
  const { sessions } = await editor.request('session/list', {})
  const [first] = sessions
  await editor.request('session/load', { ...first, mcpServers: [] })
}

it.each(types)('%s: is refused with a path, or everything answers', async (type) => {
  const server = await openServer()
  const example = lastRecord(type)
  let number = 0
  let accepted = 0
  const whole = await server.post(exampleFile(type, example, `${type}-whole`), false)
  // A receipt cannot be made up.
  expect(whole).toMatchObject({ status: type === 'receipt' ? 400 : 200 })
  for (const path of placesIn(example)) {
    for (let pick = 0; pick < 2; pick++) {
      const value = hostile[(number * 7 + pick * 5) % hostile.length]
      const id = `${type}-${number++}`
      const answer = await server.post(
        exampleFile(type, withValue(example, path, value), id),
        pick === 0,
      )
      const what = JSON.stringify([path, value]).slice(0, 100)
      if (answer.status === 200) {
        accepted++
        const { taskId } = JSON.parse(answer.text)
        await answersFor(server, taskId)
      } else {
        expect([what, answer.status, answer.text]).toEqual([what, 400, expect.any(String)])
      }
    }
  }
  if (type !== 'receipt') await listsAnswer(server)
  expect(accepted).toBeLessThan(number)
})

it('a task that an older version imported with such values does not break the lists of others', async () => {
  const server = await openServer()
  const { app, store, post } = server
  const parked = lastRecord('parked')
  await post(exampleFile('parked', parked, 'good'), false)
  const poisons: readonly ((record: LogRecord) => object)[] = [
    (record) => ({ ...record, at: 9e15 }),
    (record) => ({ ...record, at: 1_000.5 }),
    (record) =>
      'message' in record ? { ...record, message: { ...record.message, parts: [null] } } : record,
    (record) =>
      'suspension' in record
        ? { ...record, suspension: { ...record.suspension, fireAt: 1e300 } }
        : record,
  ]
  for (const [index, poison] of poisons.entries()) {
    const taskId = `poison-${index}`
    const { records: log } = exampleFile('parked', parked, taskId)
    const records = log.slice(0, 3).map((record) => poison(record) as LogRecord)
    const task = fold(records)
    if (task === undefined) throw new Error('no task')
    const [result] = await store.commit([
      { tenant: task.tenant, taskId, expected: 0, records, row: rowOf(task) },
    ])
    expect(result?.status).toBe('written')
  }
  await listsAnswer(server)
  const seen: string[] = []
  let cursor = ''
  do {
    const page = await app.request(`/ops/tasks?limit=1${cursor}`)
    const { tasks, cursor: next } = (await page.json()) as Page
    seen.push(...tasks.map(({ taskId }) => taskId))
    cursor = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`
  } while (cursor !== '')
  expect(seen.sort()).toEqual(['good', 'poison-0', 'poison-1', 'poison-2', 'poison-3'])
  expect(await server.get('/ops/tasks/poison-2/timeline')).toBe(200)
})
