import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import type { Changes } from '../../../ports/store/cluster.ts'
import { readPlace } from '../connection/connection.ts'
import { newSchema } from '../test-support/new-schema.ts'
import { startProxy } from '../test-support/proxy.ts'
import { startPostgres } from '../test-support/server.ts'
import { createNoticeReader, noticesOf } from './notice.ts'
import { createNotices, type Notices } from './notices.ts'

interface Heard extends Notices {
  readonly heard: Changes[]
}

async function open(
  schema: string,
  sender: string,
  url = inject('postgres'),
  times: { pingEveryMs?: number; pingWaitMs?: number } = {},
): Promise<Heard> {
  const notices = createNotices({ place: readPlace(url, 'url'), schema, sender, ...times })
  const heard: Changes[] = []
  notices.onChanges((changes) => heard.push(changes))
  await notices.started
  onTestFinished(() => notices.close())
  return { ...notices, heard }
}

it('N1: collects what changed at the same time in one notice, with the highest version of a task', async () => {
  const schema = newSchema()
  const [a, b] = [await open(schema, 'a'), await open(schema, 'b')]
  for (const version of [2, 4, 3]) a.report({ tasks: [{ id: 't', version }], readyAgents: ['x'] })
  await expect.poll(() => b.heard).toHaveLength(1)
  expect(b.heard).toEqual([{ tasks: [{ id: 't', version: 4 }], readyAgents: ['x'] }])
  expect(a.heard).toEqual([])
})

it('N1: says "everything" when there is too much to say', () => {
  const tasks = Array.from({ length: 250 }, (_, n) => ({ id: `task-${n}`, version: 1 }))
  expect(noticesOf('a', { tasks })).toHaveLength(3)
  const long = [{ id: 'x'.repeat(8_000), version: 1 }]
  expect(noticesOf('a', { tasks: long }).map(createNoticeReader())).toEqual([
    { sender: 'a', changes: { everything: true } },
  ])
  expect(createNoticeReader()('hello')).toBeUndefined()
})

it('N5: sends live text that is longer than a notice in fragments, and reads them as one', async () => {
  const piece = { artifactId: 'a', name: 'n', attempt: '1', phase: 'open', from: 0 } as const
  const text = 'x€😀"\\\n\u0000'.repeat(5_000)
  const news = { taskId: 't', token: 'run', version: 3, number: 1, pieces: [{ ...piece, text }] }
  const changes = { texts: [news], wishes: [{ taskId: 'u', heard: 0 }] }
  const payloads = noticesOf('a', changes)
  expect(payloads.every((payload) => Buffer.byteLength(payload) < 8_000)).toBe(true)
  const read = createNoticeReader()
  const last = payloads.map(read).at(-1)
  expect(last).toEqual({ sender: 'a', changes })
  // Fragments whose beginning was not heard are not read.
  const late = createNoticeReader()
  expect(payloads.slice(1).map(late)).toEqual(payloads.slice(1).map(() => 'incomplete'))

  const schema = newSchema()
  const [a, b] = [await open(schema, 'a'), await open(schema, 'b')]
  a.report(changes)
  await expect.poll(() => b.heard).toEqual([changes])
})

it('N2: tells everybody that everything may have changed after an interruption', async () => {
  const schema = newSchema()
  const proxy = await startProxy(inject('postgres'))
  const [a, b] = [await open(schema, 'a', proxy.url), await open(schema, 'b')]
  proxy.cutAll()
  await expect.poll(() => b.heard).toEqual([{ everything: true }])
  await expect.poll(() => a.heard).toContainEqual({ everything: true })
  b.report({ readyAgents: ['x'] })
  await expect.poll(() => a.heard).toContainEqual({ readyAgents: ['x'] })
})

it('N3: replaces a connection that delivers nothing', async () => {
  const schema = newSchema()
  const proxy = await startProxy(inject('postgres'))
  const a = await open(schema, 'a', proxy.url, { pingEveryMs: 20, pingWaitMs: 200 })
  const made = proxy.connections()
  const speak = proxy.silence()
  await expect.poll(() => a.heard).toContainEqual({ everything: true })
  speak()
  const b = await open(schema, 'b')
  const heardAfterReport = (): readonly Changes[] => {
    b.report({ readyAgents: ['x'] })
    return a.heard
  }
  await expect.poll(heardAfterReport).toContainEqual({ readyAgents: ['x'] })
  expect(proxy.connections()).toBeGreaterThan(made)
})

it('N4: tells that committed writes may be gone when another server has taken over', async () => {
  const server = await startPostgres(['restore_command=false'])
  onTestFinished(server.remove)
  const a = await open('lull', 'a', server.url)
  await server.restart('fast')
  await expect.poll(() => a.heard.length).toBeGreaterThan(1)
  expect(a.heard.some((one) => one.rolledBack)).toBe(false)

  // A recovery from a backup ends on a new timeline, as the promotion of a standby does.
  await server.stop('fast')
  await writeFile(join(server.dataDirectory, 'recovery.signal'), '')
  await server.start()
  await expect.poll(() => a.heard).toContainEqual({ rolledBack: true, everything: true })
})
