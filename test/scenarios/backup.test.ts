/** A backup of a server that works, restored after the server was killed. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { lull, serving } from './lull-process.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lull-backup-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const serve = (data: string) => serving(['serve', '--script', '--port', '0', '--data', data])

async function send(url: string, script: readonly object[]): Promise<string> {
  const message = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text: JSON.stringify({ script }) }],
  }
  const configuration = { returnImmediately: true }
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify(call),
  })
  return ((await response.json()) as { result: { task: { id: string } } }).result.task.id
}

const park = { park: { reason: 'ci', conditions: { onEvent: 'ci.done' } } }

it('has everything of its time, and its tasks go on after a restore', async () => {
  const data = join(home, 'data')
  const server = await serve(data)
  onTestFinished(() => server.signal('SIGKILL'))
  const parked = await send(server.url, [park, { complete: 'went on' }])
  const before: string[] = []
  let writing = true
  const writer = (async () => {
    while (writing) before.push(await send(server.url, [{ step: 'one' }, { complete: 'done' }]))
  })()
  await expect.poll(() => before.length).toBeGreaterThan(20)
  const known = [...before]
  const file = join(home, 'lull.backup')
  const made = await lull(['backup', file, '--data', data, '--json']).ended
  expect(made.code, made.err).toBe(0)
  const { tasks, keys } = JSON.parse(made.out) as { tasks: number; keys: readonly string[] }
  expect(tasks).toBeGreaterThan(known.length)
  expect(keys).toEqual(['receipt.key'])
  const again = await lull(['backup', file, '--data', data]).ended
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('--force')])
  writing = false
  await writer
  server.signal('SIGKILL')
  await server.ended

  const restored = join(home, 'restored')
  await cp(file, join(restored, 'lull.db'), { recursive: true })
  await cp(join(data, 'receipt.key'), join(restored, 'receipt.key'))
  const next = await serve(restored)
  onTestFinished(() => next.signal('SIGKILL'))
  const run = (...args: string[]) => lull([...args, '--url', next.url, '--json']).ended
  const listed = await run('tasks', 'list', '--limit', '1000')
  const ids = new Set(
    (JSON.parse(listed.out) as { tasks: { id: string }[] }).tasks.map(({ id }) => id),
  )
  expect(known.filter((id) => !ids.has(id))).toEqual([])
  expect(ids.size).toBe(tasks)
  const emitted = await run('events', 'emit', 'ci.done')
  expect(JSON.parse(emitted.out)).toMatchObject({ accepted: 1, woken: 1 })
  const watched = await run('tasks', 'watch', parked)
  expect(watched.out).toContain('went on')
  expect((await run('receipts', 'verify', parked)).code).toBe(0)
  next.signal('SIGTERM')
  expect((await next.ended).code).toBe(0)
})
