/**
 * Who may do what to a task, at every door: each verb of the engine, called by each kind of caller. The expected outcome is
 * made of the kind of act that the verb names, so a new verb is tested when it names its doors.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Scope, scopes } from '../../core/scopes.ts'
import type { Act } from '../../engine/caller.ts'
import { type VerbName, verbs } from '../../engine/requests/verbs.ts'
import { createScriptAgent } from '../../testing/script-agent/script-agent.ts'
import { type RunningServer, startServer } from '../serve.ts'
import { mintKey } from './api-keys.ts'
import { createKeyFile } from './key-file.ts'

const ownScopes = scopes.filter((one) => !one.endsWith(':all') && !one.startsWith('ops:'))

interface Who {
  readonly tenant: string
  readonly principal: string
  readonly scopes: readonly Scope[]
  /** What it may do to the task of the starter. */
  readonly may: readonly Act[]
}

const eve = { tenant: 'acme', principal: 'eve' }
const people: Readonly<Record<string, Who>> = {
  starter: {
    tenant: 'acme',
    principal: 'ada',
    scopes: ownScopes,
    may: ['read', 'answer', 'control'],
  },
  colleague: { ...eve, scopes: ownScopes, may: [] },
  reader: { ...eve, scopes: [...ownScopes, 'tasks:read:all'], may: ['read'] },
  approver: { ...eve, scopes: ['tasks:answer:all'], may: ['read', 'answer'] },
  controller: { ...eve, scopes: ['tasks:control:all'], may: ['read', 'control'] },
  operator: { ...eve, scopes: ['ops:read', 'ops:control'], may: ['read', 'control'] },
  'operator of *': {
    ...eve,
    tenant: '*',
    scopes: ['ops:read', 'ops:control'],
    may: ['read', 'control'],
  },
  'approver of *': {
    ...eve,
    tenant: '*',
    scopes: ['tasks:answer:all'],
    may: ['read', 'answer'],
  },
  'other tenant': { tenant: 'evil', principal: 'ada', scopes, may: [] },
}

interface Request {
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly version?: '0.3' | '1.0'
  readonly body?: object
}

/** The requests of a verb, by door. */
type Doors = Readonly<Record<string, (taskId: string) => Request>>

function rpc(version: '0.3' | '1.0', method: string, params: (id: string) => object) {
  return (id: string): Request => ({
    path: '/',
    version,
    body: { jsonrpc: '2.0', id: 1, method, params: params(id) },
  })
}

/** A control method: JSON-RPC of both versions, and REST. */
function control(name: string, action: string, params: object = {}): Doors {
  const named = (taskId: string): object => ({ taskId, ...params })
  return {
    'A2A 1.0': rpc('1.0', name, named),
    'A2A 0.3': rpc('0.3', name, named),
    REST: (id) => ({ path: `/tasks/${id}:${action}`, version: '1.0', body: params }),
  }
}

const ops = (name: string, body: object = {}): Doors => ({
  '/ops': (id) => ({ path: `/ops/tasks/${id}/${name}`, body }),
})

const said = (id: string): object => ({
  message: { messageId: `m-${id}`, role: 'ROLE_USER', taskId: id, parts: [{ text: 'yes' }] },
})
const messages: Doors = {
  'A2A 1.0': rpc('1.0', 'SendMessage', said),
  'A2A 0.3': rpc('0.3', 'message/send', (id) => ({
    message: {
      kind: 'message',
      messageId: `m-${id}`,
      role: 'user',
      taskId: id,
      parts: [{ kind: 'text', text: 'yes' }],
    },
  })),
  REST: (id) => ({ path: '/message:send', version: '1.0', body: said(id) }),
}

/** A verb without doors does not compile. */
const doors: { readonly [V in VerbName]: Doors } = {
  send: messages,
  answer: { ...messages, ...ops('answer', { answer: 'yes' }) },
  pause: { ...control('tasks/pause', 'pause'), ...ops('pause') },
  park: control('tasks/await_resumption', 'awaitResumption', { reason: 'x' }),
  resume: { ...control('tasks/resume', 'resume'), ...ops('resume') },
  cancel: {
    'A2A 1.0': rpc('1.0', 'CancelTask', (id) => ({ id })),
    'A2A 0.3': rpc('0.3', 'tasks/cancel', (id) => ({ id })),
    REST: (id) => ({ path: `/tasks/${id}:cancel`, version: '1.0', body: {} }),
    ...ops('cancel'),
  },
  fork: ops('fork', { at: 'ask', paused: true }),
  remind: {
    ...control('tasks/inject_reminder', 'injectReminder', { reminder: { body: 'x' } }),
    ...ops('remind', { reminder: { body: 'x' } }),
  },
  clearReminders: {
    'A2A 1.0': rpc('1.0', 'tasks/clear_reminders', (taskId) => ({ taskId })),
    'A2A 0.3': rpc('0.3', 'tasks/clear_reminders', (taskId) => ({ taskId })),
  },
  exportTask: { '/ops': (id) => ({ path: `/ops/tasks/${id}/export`, method: 'GET' }) },
}

/** What reads a task or lists, which is no verb. */
const reading: Doors = {
  'A2A 1.0': rpc('1.0', 'GetTask', (id) => ({ id })),
  'A2A 0.3': rpc('0.3', 'tasks/get', (id) => ({ id })),
  REST: (id) => ({ path: `/tasks/${id}`, version: '1.0', method: 'GET' }),
  '/ops': (id) => ({ path: `/ops/tasks/${id}`, method: 'GET' }),
  '/ops timeline': (id) => ({ path: `/ops/tasks/${id}/timeline`, method: 'GET' }),
  '/ops receipts': (id) => ({ path: `/ops/tasks/${id}/receipts`, method: 'GET' }),
}

let serving: RunningServer
let data: string
const keys = new Map<string, string>()

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'lull-acts-'))
  serving = await startServer({
    agents: [createScriptAgent()],
    port: 0,
    data,
    store: 'memory',
    auth: { modes: ['keys'] },
    limits: { requestsPerSecond: 1_000_000 },
    log: () => undefined,
  })
  const file = createKeyFile(data)
  for (const [who, { may: _, ...given }] of Object.entries(people)) {
    const { kept, key } = mintKey(given, Date.now())
    await file.add(kept)
    keys.set(who, key)
  }
})
afterAll(async () => {
  await serving.close()
  rmSync(data, { recursive: true })
})

async function call(who: string, request: Request) {
  const { path, method = 'POST', version, body } = request
  const response = await fetch(serving.url + path, {
    method,
    headers: {
      authorization: `Bearer ${keys.get(who)}`,
      'content-type': 'application/json',
      ...(version === undefined ? {} : { 'a2a-version': version }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** A task of the starter that asks a question. */
async function asking(): Promise<string> {
  const parts = [{ data: { script: [{ ask: 'the secret of ada?' }] } }]
  const message = { messageId: 'm', role: 'ROLE_USER', parts }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const { text } = await call('starter', { path: '/', version: '1.0', body })
  return (JSON.parse(text) as { result: { task: { id: string } } }).result.task.id
}

type Outcome = 'allowed' | 'forbidden' | 'not found'

function outcomeOf({ status, text }: { status: number; text: string }): Outcome {
  if (status === 403) return 'forbidden'
  const isHidden = status === 404 || /TASK_NOT_FOUND|-32601|"code":-32001|"code":-32004/.test(text)
  return isHidden ? 'not found' : 'allowed'
}

/** Without the right to read, a task is not found. What one may only read is refused with the scope. */
function expected(who: string, act: Act, scope: Scope): Outcome {
  const { may, scopes: has } = people[who] as Who
  // For other callers, a method of workers does not exist.
  if (scope === 'tasks:work' && !has.includes(scope)) return 'not found'
  if (!may.includes('read')) return 'not found'
  return may.includes(act) ? 'allowed' : 'forbidden'
}

const verbNames = Object.keys(verbs) as readonly VerbName[]
const rows = Object.keys(people).flatMap((who) =>
  verbNames.flatMap((verb) =>
    Object.entries(doors[verb]).map(([door, request]) => ({ who, verb, door, request })),
  ),
)

describe('the task of the starter', () => {
  it.each(rows)('$who: $verb by $door', async ({ who, verb, request }) => {
    const { act, scope } = verbs[verb]
    const id = await asking()
    const answer = await call(who, request(id))
    expect([outcomeOf(answer), answer.text.slice(0, 200)]).toEqual([
      expected(who, act, scope),
      expect.anything(),
    ])
    // A refusal shows nothing of the task.
    if (outcomeOf(answer) !== 'allowed') expect(answer.text).not.toContain('the secret')
  })

  it.each(
    Object.keys(people).flatMap((who) =>
      Object.entries(reading).map(([door, request]) => ({ who, door, request })),
    ),
  )('$who: read by $door', async ({ who, request }) => {
    const answer = await call(who, request(await asking()))
    expect(outcomeOf(answer)).toBe(people[who]?.may.includes('read') ? 'allowed' : 'not found')
  })

  it.each(Object.keys(people))('%s finds it in lists, or does not', async (who) => {
    const id = await asking()
    const isSeen = people[who]?.may.includes('read')
    const lists = [rpc('1.0', 'ListTasks', () => ({}))(''), { path: '/ops/tasks', method: 'GET' }]
    for (const list of lists as Request[]) {
      expect((await call(who, list)).text.includes(id)).toBe(isSeen)
    }
  })
})

describe('webhooks and new tasks', () => {
  const webhook = (taskId: string): Request =>
    rpc('1.0', 'CreateTaskPushNotificationConfig', () => ({
      taskId,
      id: 'hook',
      url: 'https://a.example/',
    }))(taskId)

  it('are not set on the task of a colleague, whatever one may do to it', async () => {
    for (const who of ['reader', 'approver', 'controller', 'operator', 'operator of *']) {
      expect([who, (await call(who, webhook(await asking()))).status]).toEqual([who, 403])
    }
  })

  it('are not made by those who may only answer or control', async () => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    for (const who of ['approver', 'controller', 'operator', 'operator of *', 'approver of *']) {
      const answer = await call(who, rpc('1.0', 'SendMessage', () => ({ message }))(''))
      expect([who, answer.status, answer.text.includes('tasks:write')]).toEqual([who, 403, true])
    }
  })
})

describe('the audit log', () => {
  it('lists answers, and no refusal of what a key does with its own tasks', async () => {
    const id = await asking()
    const own: Request[] = [
      { path: '/ops/tasks', method: 'GET' },
      { path: `/ops/tasks/${id}/receipts`, method: 'GET' },
      { path: `/ops/tasks/${id}/log`, method: 'GET' },
      { path: `/ops/tasks/${id}/timeline`, method: 'GET' },
    ]
    for (const request of own) expect((await call('starter', request)).status).toBe(200)
    await call('approver', { path: `/ops/tasks/${id}/answer`, body: { answer: 'yes' } })
    const late = { path: `/ops/tasks/${id}/answer`, body: { answer: 'no' } }
    const second = await call('starter', late)
    expect([second.status, second.text.includes('by eve at 20')]).toEqual([409, true])
    const { text } = await call('operator', { path: `/ops/audit?taskId=${id}`, method: 'GET' })
    const { entries } = JSON.parse(text) as { entries: Record<string, string>[] }
    const noted = entries.map(({ principal, action, outcome }) => [principal, action, outcome])
    expect(noted).toEqual([
      ['eve', 'task.answer', 'done'],
      ['ada', 'task.answer', 'NOT_ASKING'],
    ])
  })
})
