/** Whatever is wrong with a control request is refused with its code and its place, in both versions and bindings, and nothing is written. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerOf, owner } from '../../src/server/auth/identity.ts'
import { keyIn } from '../../src/testing/key-in.ts'
import {
  ABSENT,
  type ControlMethod,
  controlMethods,
  type Mistake,
  mistakes,
  rightEvent,
  shown,
  withWrong,
  wrongEvents,
  wrongIds,
} from './bad-input.ts'
import { openWholeServer, type WholeServer } from './whole-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are compared as they are
type Loose = any

let server: WholeServer
/** One task per state; no request below gets as far as changing one. */
const tasks = new Map<string, string>()
let before: object

const scripts = {
  working: [{ step: 'long', ms: 600_000 }],
  'paused-by-agent': [{ park: { reason: 'waiting', conditions: { onEvent: 'never.comes' } } }],
}
/** Works as well, but comes to a boundary every few milliseconds. */
const ticking = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]

beforeAll(async () => {
  server = await openWholeServer()
  for (const state of ['working', 'paused-by-agent'] as const) tasks.set(state, await begin(state))
  before = await written()
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

let count = 0

async function begin(
  state: keyof typeof scripts,
  script: readonly object[] = scripts[state],
): Promise<string> {
  const parts = [{ data: { script } }]
  const message = { messageId: `m-${++count}`, role: 'ROLE_USER', parts }
  const configuration = { returnImmediately: true }
  const { result } = await rpc('1.0', 'SendMessage', { message, configuration })
  const { id } = result.task
  await server.engine.waitFor(callerOf(owner), id, (task) => task.state === state)
  return id
}

type Version = '0.3' | '1.0'

async function post(
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', headers, body })
}

const JSON_TYPE = { 'content-type': 'application/json' }
const asks = (version: Version) => ({ ...JSON_TYPE, 'a2a-version': version })

async function rpc(version: Version, method: string, params: unknown): Promise<Loose> {
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return (await post('/', asks(version), request)).json()
}

interface Refusal {
  readonly code: number
  readonly path: string | undefined
}

/** How each version and binding says the same. */
const bindings: readonly (readonly [
  string,
  (method: ControlMethod, taskId: unknown, params: object) => Promise<Refusal> | undefined,
])[] = [
  ['JSON-RPC 0.3', (method, taskId, params) => overRpc('0.3', method, taskId, params)],
  ['JSON-RPC 1.0', (method, taskId, params) => overRpc('1.0', method, taskId, params)],
  ['REST 0.3', (method, taskId, params) => overRest('0.3', method, taskId, params)],
  ['REST 1.0', (method, taskId, params) => overRest('1.0', method, taskId, params)],
]

async function overRpc(
  version: Version,
  { name }: ControlMethod,
  taskId: unknown,
  params: object,
): Promise<Refusal> {
  const whole = taskId === ABSENT ? params : { taskId, ...params }
  const { error } = await rpc(version, name, whole)
  return { code: error?.code, path: version === '0.3' ? error?.data?.path : fieldIn(error?.data) }
}

/** Undefined where REST has no such shape: an id in the path is text, and there is one. */
function overRest(
  version: Version,
  { action }: ControlMethod,
  taskId: unknown,
  params: object,
): Promise<Refusal> | undefined {
  if (typeof taskId !== 'string' || taskId === '') return undefined
  return restRefusal(version, `tasks/${encodeURIComponent(taskId)}:${action}`, params)
}

const httpStatus: Readonly<Record<number, number>> = {
  [-32602]: 400,
  [-32001]: 404,
  [-32004]: 404,
}

async function restRefusal(version: Version, path: string, params: object): Promise<Refusal> {
  const prefix = version === '0.3' ? '/v1/' : '/'
  const response = await post(`${prefix}${path}`, asks(version), JSON.stringify(params))
  const body = (await response.json()) as Loose
  const { reason } = body.error?.details?.[0] ?? {}
  const code = version === '0.3' ? body.code : codes[reason as keyof typeof codes]
  expect(response.status).toBe(httpStatus[code])
  return { code, path: version === '0.3' ? body.data?.path : fieldIn(body.error?.details) }
}

const codes = { INVALID_PARAMS: -32602, TASK_NOT_FOUND: -32001 }

function fieldIn(details: Loose): string | undefined {
  return details?.[1]?.fieldViolations[0].field
}

/** Everything a request could have changed. */
async function written(): Promise<object> {
  const { store } = server
  const logs = await Promise.all(
    [...tasks.values()].map(async (id) => store.records(...(await keyIn(store, id)), 0, 10_000)),
  )
  const listed = await rpc('1.0', 'ListTasks', { pageSize: 100 })
  return {
    logs,
    listed: listed.result,
    events: await store.eventPositions(await store.tenants('', 99)),
  }
}

async function refusedEverywhere(
  method: ControlMethod,
  taskId: unknown,
  params: object,
  path: string,
): Promise<void> {
  for (const [binding, ask] of bindings) {
    const refusal = await ask(method, taskId, params)
    if (refusal !== undefined) expect(refusal, binding).toEqual({ code: -32602, path })
  }
  expect(await written()).toEqual(before)
}

describe.each(controlMethods)('$name', (method) => {
  const rows = mistakes(method.wrong).map((one) => [one.path, shown(one.value), one] as const)

  it.each(rows)('%s: %s', async (_path, _shown, { path, value, found }: Mistake) => {
    const params = withWrong(method.right, path, value)
    await refusedEverywhere(method, tasks.get(method.from), params, found)
  })

  it.each(wrongIds.map((id) => [shown(id), id] as const))('taskId: %s', (_shown, id) =>
    refusedEverywhere(method, id, method.right, 'taskId'),
  )

  it('an unknown task: -32004 in the words of the RFCs, -32001 in A2A 1.0', async () => {
    for (const [binding, ask] of bindings) {
      const code = binding.endsWith('0.3') ? -32004 : -32001
      expect(await ask(method, 'nobody', method.right), binding).toMatchObject({ code })
    }
    expect(await written()).toEqual(before)
  })
})

const ONE = 'application/cloudevents+json'
const BATCH = 'application/cloudevents-batch+json'

describe('POST /events', () => {
  async function refused(type: string, body: string, status = 400): Promise<Loose> {
    const response = await post('/events', { 'content-type': type }, body)
    expect(response.status).toBe(status)
    expect(await written()).toEqual(before)
    const { error } = (await response.json()) as Loose
    expect(error.code).toBe(status === 415 ? 'UNSUPPORTED_MEDIA_TYPE' : 'INVALID_INPUT')
    return error
  }

  const rows = mistakes(wrongEvents).map((one) => [one.path, shown(one.value), one] as const)

  it.each(rows)('%s: %s', async (_path, _shown, { path, value }: Mistake) => {
    const event = withWrong(rightEvent, path, value)
    expect((await refused(ONE, JSON.stringify(event))).path).toBe(path)
    const batch = JSON.stringify([rightEvent, event])
    expect((await refused(BATCH, batch)).path).toBe(`events.1.${path}`)
  })

  it.each([
    ['ce-specversion', '0.3'],
    ['ce-id', ''],
    ['ce-source', ''],
    ['ce-type', ''],
    ['ce-time', 'noon'],
  ])('in headers, %s: %j', async (name, value) => {
    const attributes = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/', 'ce-type': 't' }
    const headers = { ...JSON_TYPE, ...attributes, [name]: value }
    const response = await post('/events', headers, '{}')
    const { error } = (await response.json()) as Loose
    expect([response.status, error.path]).toEqual([400, name.replace('ce-', '')])
    expect(await written()).toEqual(before)
  })

  it.each([
    [ONE, '[]', 'specversion'],
    [ONE, '"x"', 'specversion'],
    [ONE, 'null', 'specversion'],
    [BATCH, JSON.stringify(rightEvent), 'A batch is an array'],
    [BATCH, '[5]', 'specversion'],
    [BATCH, '[5, 5]', 'events.0.specversion'],
    [ONE, '', 'not valid JSON'],
    [ONE, '{"specversion":', 'not valid JSON'],
    [ONE, '{"id":"a","id":"b"}', 'given twice'],
    [ONE, `${'['.repeat(65)}${']'.repeat(65)}`, 'nested deeper'],
  ])('%s %s', async (type, body, problem) => {
    expect((await refused(type, body)).message).toContain(problem)
  })

  it('a media type that is none of the two', async () => {
    await refused('application/json', JSON.stringify(rightEvent), 415)
  })
})

describe.each(['tasks/pause', 'tasks/resume', 'tasks/get', 'tasks/cancel'])(
  '%s in the Bindu dialect',
  (method) => {
    it.each([5, true, [], {}, '', null])('task_id: %j', async (task_id) => {
      // The other ids do not count where this one is given.
      const [taskId] = tasks.values()
      const params = { task_id, taskId, id: taskId }
      const old = (await rpc('0.3', method, params)).error
      expect([old.code, old.data.path]).toEqual([-32602, 'task_id'])
      const { code, data } = (await rpc('1.0', method, params)).error
      expect([code, fieldIn(data)]).toEqual([-32602, 'task_id'])
      expect(await written()).toEqual(before)
    })
  },
)

describe('what is no request at all', () => {
  const pause = (params: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tasks/pause","params":${params}}`

  it.each([
    ['params that are a list', pause('[]'), -32602],
    ['params that are text', pause('"x"'), -32602],
    ['JSON that breaks off', pause('{'), -32700],
    ['a name given twice', pause('{"taskId":"a","taskId":"b"}'), -32600],
    ['a prototype', pause('{"__proto__":{}}'), -32600],
    ['a number no computer has', pause('{"taskId":"a","graceMs":1e400}'), -32602],
    ['nesting without end', pause(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`), -32600],
    ['a batch', `[${pause('{}')}]`, -32600],
    ['a method in the wrong case', pause('{}').replace('tasks/pause', 'Tasks/Pause'), -32601],
  ])('%s', async (_what, body, code) => {
    for (const version of ['0.3', '1.0'] as const) {
      const response = await post('/', asks(version), body)
      expect(((await response.json()) as Loose).error.code, version).toBe(code)
    }
    expect(await written()).toEqual(before)
  })
})

// Last, because from here on something is written.
describe('a request with nothing wrong about it is taken:', () => {
  const versions = ['0.3', '1.0'] as const
  const rows = controlMethods.flatMap((method) =>
    versions.map((version) => ({ ...method, version })),
  )

  it.each(rows)('$name ($version)', async ({ version, name, action, from, right }) => {
    const script = from === 'working' ? ticking : undefined
    const byRpc = await begin(from, script)
    const answer = await rpc(version, name, { taskId: byRpc, ...right })
    expect(answer).not.toHaveProperty('error')
    const byRest = await begin(from, script)
    const path = `${version === '0.3' ? '/v1' : ''}/tasks/${byRest}:${action}`
    const response = await post(path, asks(version), JSON.stringify(right))
    expect(response.status, await response.text()).toBe(200)
  })

  it('POST /events, one or several', async () => {
    const one = await post('/events', { 'content-type': ONE }, JSON.stringify(rightEvent))
    // Tasks of earlier tests may wait for it.
    expect([one.status, await one.json()]).toMatchObject([202, { accepted: 1, duplicates: 0 }])
    const batch = JSON.stringify([rightEvent, { ...rightEvent, id: 'e-2' }])
    const two = await post('/events', { 'content-type': BATCH }, batch)
    expect([two.status, await two.json()]).toMatchObject([202, { accepted: 1, duplicates: 1 }])
  })

  it.each(['percent-encoded', 'as the Go and Java SDKs send them'])(
    'POST /events with attributes that are not ASCII, %s',
    async (how) => {
      const subject = 'Prüfung für 5 €'
      const asItIs = Buffer.from(subject).toString('latin1')
      const attributes = { 'ce-specversion': '1.0', 'ce-id': how, 'ce-source': '/', 'ce-type': 't' }
      const encoded = how === 'percent-encoded' ? encodeURIComponent(subject) : asItIs
      const headers = { ...JSON_TYPE, ...attributes, 'ce-subject': encoded }
      const response = await post('/events', headers, '{}')
      expect([response.status, await response.json()]).toEqual([
        202,
        { accepted: 1, duplicates: 0, woken: 0 },
      ])
    },
  )
})
