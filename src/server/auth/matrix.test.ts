/**
 * Every method and route, called with every kind of credential. The rows are made from the tables that the server itself uses,
 * so a new method or route is tested without being named here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allows, type Scope, scopes } from '../../core/scopes.ts'
import { bindu } from '../../protocols/a2a/dialects/bindu/bindu-methods.ts'
import { methods, routes } from '../../protocols/a2a/methods/methods.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, startServer } from '../serve.ts'
import { mintKey, type NewKey } from './api-keys.ts'
import { routeScopes } from './gate.ts'
import { createKeyFile } from './key-file.ts'

interface Row {
  readonly name: string
  /** All of these are needed. */
  readonly needs: readonly Scope[]
  readonly ask: (key: string | undefined, taskId: string) => Promise<Answer>
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** What gives no reach beyond own tasks. */
const ownScopes = scopes.filter((one) => !one.endsWith(':all') && !one.startsWith('ops:'))

let serving: RunningServer
let data: string
let taskId: string
const keys = new Map<string, string>()

const ada = { tenant: 'acme', principal: 'ada' }

async function mint(name: string, given: Partial<NewKey>, revoke = false): Promise<void> {
  const file = createKeyFile(data)
  const now = Date.now()
  const { kept, key } = mintKey({ ...ada, scopes, ...given }, now)
  await file.add(kept)
  if (revoke) await file.revoke(kept.id, now)
  keys.set(name, key)
}

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-matrix-'))
  serving = await startServer({
    agents: [createScriptAgent()],
    port: 0,
    data,
    store: 'memory',
    auth: { modes: ['keys'] },
    limits: { requestsPerSecond: 1_000_000 },
    log: () => undefined,
  })
  await mint('right', {})
  await mint('other principal', { principal: 'eve' })
  await mint('other tenant', { tenant: 'evil' })
  await mint('revoked', {}, true)
  await mint('expired', { expiresAt: Date.now() - 1 })
  for (const scope of scopes) {
    const rest = scope.startsWith('tasks:') ? ownScopes : scopes
    const without = rest.filter((one) => !allows(new Set([one]), scope))
    await mint(`without ${scope}`, { scopes: without })
  }
  await mint('all principals', { principal: 'boss' })
  await mint('with own scopes', {
    principal: 'eve',
    scopes: ownScopes,
  })
  const script = { data: { script: [{ ask: 'the secret of ada?' }] } }
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [script] }
  const sent = await rpc('1.0', 'SendMessage', () => ({ message }))(keys.get('right'), '')
  taskId = (JSON.parse(sent.text) as { result: { task: { id: string } } }).result.task.id
})
afterAll(async () => {
  await serving.close()
  rmSync(data, { recursive: true })
})

async function ask(path: string, init: RequestInit, key: string | undefined): Promise<Answer> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const headers = { ...(init.headers as Record<string, string>), ...authorization }
  const end = new AbortController()
  const response = await fetch(serving.url + path, { ...init, headers, signal: end.signal })
  const streams = response.headers.get('content-type')?.startsWith('text/event-stream')
  const answer = { status: response.status, text: streams ? 'a stream' : await response.text() }
  end.abort()
  return answer
}

const json = { 'content-type': 'application/json' }

function rpc(version: string, method: string, params: (id: string) => object): Row['ask'] {
  return (key, id) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: params(id) })
    return ask('/', { method: 'POST', headers: { ...json, 'a2a-version': version }, body }, key)
  }
}

/** The parameters with which a method names a task. Extension methods are strict, and take only their own. */
function naming(method: string, version: string, id: string): object {
  if (/push/i.test(method) && version === '1.0')
    return { taskId: id, id: 'hook', url: 'https://a.example/' }
  if (
    /^tasks\/(pause|resume|await_resumption|inject_reminder|list_reminders|clear_reminders|list_receipts)$/.test(
      method,
    )
  ) {
    return {
      taskId: id,
      ...(method.includes('inject') ? { reminder: { body: 'x' } } : {}),
      ...(method.includes('await') ? { reason: 'x' } : {}),
    }
  }
  return {
    id,
    ...(/push/i.test(method)
      ? { taskId: id, pushNotificationConfig: { url: 'https://a.example/' } }
      : {}),
  }
}

const rpcRows: Row[] = (['1.0', '0.3'] as const).flatMap((version) =>
  [...methods[version]].map(([name, { scope }]) => ({
    name: `${name} of ${version}`,
    needs: [scope],
    ask: rpc(version, name, (id) => naming(name, version, id)),
  })),
)

const binduRows: Row[] = [...bindu].map(([name, { scope }]) => ({
  name: `${name} of Bindu`,
  needs: [scope],
  ask: rpc('0.3', name, (id) => ({ task_id: id })),
}))

const restRows: Row[] = (['1.0', '0.3'] as const).flatMap((version) =>
  routes[version].map(({ verb, path, method }) => ({
    name: `${verb} ${path.join('/')} of ${version}`,
    needs: [method.scope],
    ask: (key, id) => {
      const below = path.map((one) =>
        one
          .replace(/\{(?:taskId|id)\}/, one.startsWith('{') && path.indexOf(one) > 1 ? 'hook' : id)
          .replace(/\{\w+\}/, 'hook'),
      )
      const address = `${version === '0.3' ? '/v1' : ''}/${below.join('/')}`
      const body = verb === 'POST' ? { body: '{}' } : {}
      return ask(
        address,
        { method: verb, headers: { ...json, 'a2a-version': version }, ...body },
        key,
      )
    },
  })),
)

const routeRows: Row[] = Object.entries(routeScopes).flatMap(([route, needs]) => {
  if (needs === 'public') return []
  const [method = '', path = ''] = route.split(' ')
  return {
    name: route,
    needs: needs === 'any' || 'either' in needs ? [] : needs,
    ask: (key, id) => {
      const body = method === 'POST' ? { body: '{}' } : {}
      return ask(path.replace('{id}', id), { method, headers: json, ...body }, key)
    },
  }
})

const rows = [...rpcRows, ...binduRows, ...restRows, ...routeRows]
const byName = rows.map((row) => [row.name, row] as const)
const ofTasks = byName.filter(([name]) => !name.includes('/acp'))

const isHidden = ({ status, text }: Answer): boolean => status === 404 || text.includes('-32601')

it('has a row for everything', () => {
  expect(rows.length).toBeGreaterThan(70)
  expect(rpcRows.length).toBe(methods['1.0'].size + methods['0.3'].size)
})

describe('without a valid credential', () => {
  it.each(byName)('%s is refused with 401', async (_, row) => {
    for (const name of ['none', 'revoked', 'expired']) {
      const { status, text } = await row.ask(keys.get(name), taskId)
      expect([name, status]).toEqual([name, 401])
      expect(text).toContain('UNAUTHENTICATED')
    }
  })
})

describe('without the scope', () => {
  it.each(byName.filter(([, { needs }]) => needs.length > 0))(
    '%s is refused with 403, or is not there',
    async (_, { needs, ask: call }) => {
      for (const scope of needs) {
        const answer = await call(keys.get(`without ${scope}`), taskId)
        if (scope === 'tasks:work') expect(isHidden(answer)).toBe(true)
        else expect([answer.status, answer.text.includes(scope)]).toEqual([403, true])
      }
    },
  )
})

describe('with the right credential', () => {
  it.each(byName)('%s is not refused', async (_, row) => {
    const { status } = await row.ask(keys.get('right'), 'no-such-task')
    expect([401, 403]).not.toContain(status)
  })
})

describe("another's task", () => {
  /** The same question about a task that nobody has. */
  const missing = '01a1e283-0000-7000-8000-000000000000'

  it.each(
    ofTasks.filter(
      ([, { needs }]) => !needs.includes('ops:read') && !needs.includes('ops:control'),
    ),
  )('%s: is not found, and nothing tells it from one that does not exist', async (_, row) => {
    for (const name of ['with own scopes', 'other tenant']) {
      const there = await row.ask(keys.get(name), taskId)
      const nowhere = await row.ask(keys.get(name), missing)
      const same = (answer: Answer): Answer => ({ ...answer, text: plain(answer.text) })
      expect([name, same(there)]).toEqual([name, same(nowhere)])
      expect(there.text).not.toContain('secret of ada')
    }
  })

  it.each(
    ofTasks.filter(([, { needs }]) => needs.includes('ops:read') || needs.includes('ops:control')),
  )('%s: is not found by an operator of another tenant', async (_, row) => {
    const there = await row.ask(keys.get('other tenant'), taskId)
    const nowhere = await row.ask(keys.get('other tenant'), missing)
    expect({ ...there, text: plain(there.text) }).toEqual({ ...nowhere, text: plain(nowhere.text) })
    expect(there.text).not.toContain('secret of ada')
  })

  it('is read by whoever may read the tasks of all principals, and by its owner', async () => {
    const get = rpc('1.0', 'GetTask', (id) => ({ id }))
    for (const name of ['right', 'all principals']) {
      expect((await get(keys.get(name), taskId)).text).toContain('secret of ada')
    }
  })

  /** Ids and instants of an answer differ from call to call. */
  function plain(text: string): string {
    return text
      .replaceAll(taskId, 'ID')
      .replaceAll(missing, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
  }
})

it('lets an operator or the owner of a task fork it, and nobody else', async () => {
  await mint('writer', { scopes: ['tasks:write'] })
  await mint('foreign writer', { principal: 'eve', scopes: ['tasks:write'] })
  await mint('operator', { principal: 'olga', scopes: ['ops:control'] })
  await mint('reader', { scopes: ['tasks:read', 'ops:read'] })
  const body = JSON.stringify({ at: 'ask', paused: true })
  const fork = async (name: string): Promise<Answer> =>
    ask(`/ops/tasks/${taskId}/fork`, { method: 'POST', headers: json, body }, keys.get(name))
  for (const name of ['writer', 'operator']) {
    const { status, text } = await fork(name)
    expect([name, status]).toEqual([name, 200])
    expect(JSON.parse(text)).toMatchObject({ forkedFrom: taskId, principal: 'ada' })
  }
  expect((await fork('foreign writer')).status).toBe(404)
  expect(await fork('reader')).toMatchObject({
    status: 403,
    text: expect.stringContaining('ops:control'),
  })
})

it('lets no operator of a tenant lift what an operator of all tenants holds', async () => {
  await mint('operator of acme', { principal: 'olga', scopes: ['ops:read', 'ops:control'] })
  await mint('operator of all', { tenant: '*', principal: 'root', scopes: ['ops:control'] })
  const body = JSON.stringify({ scope: { contextId: 'none' }, reason: 'incident' })
  const init = { method: 'POST', headers: json, body }
  // The operator of acme sees a hold within acme, and no other.
  const refused = { '/ops/holds?tenant=acme': 400, '/ops/holds?tenant=*': 404, '/ops/holds': 404 }
  for (const [path, status] of Object.entries(refused)) {
    const { text } = await ask(path, init, keys.get('operator of all'))
    const { holdId } = JSON.parse(text) as { holdId: string }
    const lift = (name: string) => ask(`/ops/holds/${holdId}`, { method: 'DELETE' }, keys.get(name))
    expect([path, (await lift('operator of acme')).status]).toEqual([path, status])
    expect([path, (await lift('operator of all')).status]).toEqual([path, 200])
  }
})

it('lets nobody choose a tenant', async () => {
  const named = rpc('1.0', 'ListTasks', () => ({ tenant: 'acme' }))
  expect((await named(keys.get('other tenant'), '')).text).toContain('tenant')
  const all = rpc('1.0', 'ListTasks', () => ({ tenant: '*' }))
  expect((await all(keys.get('right'), '')).text).toContain('is unknown')
  for (const tenant of ['acme', '*']) {
    const answer = await ask(`/ops/tasks?tenant=${tenant}`, {}, keys.get('other tenant'))
    expect([answer.status, answer.text.includes('is unknown')]).toEqual([400, true])
  }
})

it('tells on its cards, which are public, that it wants a key', async () => {
  for (const version of ['1.0', '0.3']) {
    const headers = { 'a2a-version': version }
    const { status, text } = await ask('/.well-known/agent-card.json', { headers }, undefined)
    expect(status).toBe(200)
    expect(text.toLowerCase()).toMatch(/"scheme":"bearer"/)
  }
  expect((await ask('/healthz', {}, undefined)).status).toBe(200)
})
