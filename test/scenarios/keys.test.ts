/** API keys from the command line to the socket, with processes of their own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { removeTestStore } from '../support/test-store.ts'
import { type LullProcess, lull, serving } from './lull-process.ts'

let data: string
let server: LullProcess & { readonly url: string }
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'lull-keys-'))
  server = await serving(['serve', '--script', '--port', '0', '--data', data, '--auth', 'keys'])
}, 60_000)
afterAll(async () => {
  server.signal('SIGKILL')
  await server.ended
  await rm(data, { recursive: true })
  await removeTestStore(data)
})

async function keys(...args: readonly string[]): Promise<{ code: number | null; out: string }> {
  return lull(['keys', ...args, '--data', data, '--json']).ended
}

async function mint(...args: readonly string[]): Promise<{ id: string; key: string }> {
  const { out } = await keys('mint', '--tenant', 'acme', '--principal', 'ci', ...args)
  return JSON.parse(out) as { id: string; key: string }
}

async function statusOf(key: string | undefined, path = '/tasks'): Promise<number> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return (await fetch(server.url + path, { headers })).status
}

/** A process that shares a database with others reads the keys again after a moment. */
const known = (key: string) => expect.poll(() => statusOf(key)).not.toBe(401)

it('lets in who has a key, while it is valid, and only where its scopes reach', async () => {
  const { id, key } = await mint('--scopes', 'tasks:read')
  expect(key).toMatch(/^lull_[0-9a-f]{16}_[\w-]{43}$/)
  expect(await statusOf(undefined)).toBe(401)
  expect(await statusOf(`${key}x`)).toBe(401)
  await known(key)
  expect(await statusOf(key)).toBe(200)
  expect(await statusOf(key, '/ops/holds')).toBe(403)

  const listed = await lull(['tasks', 'list', '--url', server.url, '--json'], { LULL_TOKEN: key })
    .ended
  expect(listed).toMatchObject({ code: 0, out: '{"tasks":[],"total":0}' })

  expect(JSON.parse((await keys('revoke', id)).out)).toEqual({ id, revoked: true })
  await expect.poll(() => statusOf(key)).toBe(401)
  const { out } = await keys('list')
  expect(JSON.parse(out)).toMatchObject({ keys: [{ id, tenant: 'acme', state: 'revoked' }] })
  expect(out).not.toContain(key.split('_').slice(2).join('_'))
}, 60_000)

it('ends a stream when its key is revoked', async () => {
  const { id, key } = await mint('--scopes', 'ops:read')
  const headers = { authorization: `Bearer ${key}` }
  await known(key)
  const { status, body } = await fetch(`${server.url}/ops/changes`, { headers })
  expect(status).toBe(200)
  let ended = false
  const reading = (async () => {
    for await (const _ of body ?? []);
  })()
    .catch(() => undefined)
    .finally(() => {
      ended = true
    })
  await keys('list')
  expect(ended).toBe(false)
  await keys('revoke', id)
  await reading
}, 60_000)

it.each([
  ['an unknown scope', ['mint', '--tenant', 'a', '--principal', 'b', '--scopes', 'everything']],
  ['no principal', ['mint', '--tenant', 'a', '--scopes', 'tasks:read']],
  ['tasks of all tenants', ['mint', '--tenant', '*', '--principal', 'b', '--scopes', 'tasks:read']],
  [
    'a time that has passed',
    [
      'mint',
      '--tenant',
      'a',
      '--principal',
      'b',
      '--scopes',
      'ops:read',
      '--expires',
      '2020-01-01',
    ],
  ],
])(
  'mints no key with %s',
  async (_, args) => {
    expect((await keys(...args)).code).toBe(2)
  },
  30_000,
)

it('refuses to be reached by others without authentication, and not with it', async () => {
  const at = ['serve', '--script', '--port', '0', '--host', '0.0.0.0', '--data', join(data, 'b')]
  expect(await lull(at).ended).toMatchObject({ code: 1 })
  const open = await serving([...at, '--auth', 'keys'])
  open.signal('SIGTERM')
  await open.ended
}, 60_000)
