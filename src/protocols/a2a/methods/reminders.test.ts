/** The reminder methods in both versions and bindings: every field, right and wrong, and every refusal with its code. */
import { beforeAll, describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'
import { all, take } from '../test-support/frames.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  scripted,
  type TestServer,
  textMessage,
} from '../test-support/test-server.ts'

interface Answer {
  readonly result?: Loose
  readonly code?: number
  readonly path?: string
  readonly reason?: string
}

type Ask = (testServer: TestServer, method: string, params: Loose) => Promise<Answer>
type Version = '1.0' | '0.3'

const actions: Readonly<Record<string, string>> = {
  'tasks/inject_reminder': 'injectReminder',
  'tasks/list_reminders': 'listReminders',
  'tasks/clear_reminders': 'clearReminders',
}

const rpc =
  (version: Version): Ask =>
  async (testServer, method, params) => {
    const { result, error } = await testServer.rpc(version, method, params)
    if (error === undefined) return { result }
    const { code, data } = error
    if (version === '0.3') return { code, path: data.path, reason: data.reason }
    return { code, path: pathIn(data), reason: data[0].reason }
  }

const rest =
  (version: Version): Ask =>
  async (testServer, method, { taskId, ...body }) => {
    const root = version === '0.3' ? '/v1' : ''
    const path = `${root}/tasks/${taskId}:${actions[method]}`
    const response = await testServer.fetch('POST', path, body)
    const answer = (await response.json()) as Loose
    if (response.ok) return { result: answer }
    if (version === '0.3') {
      const { code, data } = answer
      return { code, path: data.path, reason: data.reason }
    }
    const { code, details } = answer.error
    return { code, path: pathIn(details), reason: details[0].reason }
  }

const pathIn = (details: Loose): string | undefined => details[1]?.fieldViolations[0].field

const ways: readonly (readonly [string, Ask, Version, boolean])[] = [
  ['JSON-RPC 0.3', rpc('0.3'), '0.3', false],
  ['JSON-RPC 1.0', rpc('1.0'), '1.0', false],
  ['REST 0.3', rest('0.3'), '0.3', true],
  ['REST 1.0', rest('1.0'), '1.0', true],
]

const waiting = [{ park: { reason: 'x' } }, { turn: [{ echo: 'reminders' }] }]

async function parked(testServer: TestServer, ops: readonly object[] = waiting): Promise<string> {
  const { id } = await testServer.ok('0.3', 'message/send', { message: scripted('0.3', ops) })
  return id
}

describe.each(ways)('over %s', (_, ask, version, isRest) => {
  let testServer: TestServer
  let taskId: string
  beforeAll(async () => {
    testServer = await openTestServer()
    taskId = await parked(testServer)
  })

  const inject = (reminder: Loose, more: object = {}): Promise<Answer> =>
    ask(testServer, 'tasks/inject_reminder', { taskId, reminder, ...more })
  const clear = (selector: object = {}): Promise<Answer> =>
    ask(testServer, 'tasks/clear_reminders', { taskId, ...selector })
  const list = async (): Promise<Loose> =>
    (await ask(testServer, 'tasks/list_reminders', { taskId })).result.reminders

  it('injects, answers, lists and clears', async () => {
    const whole = {
      id: 'r-1',
      body: 'Rebase first.',
      tags: ['upstream', 'rebase'],
      dedupeKey: 'upstream:pr-1234',
      ttlTurns: 2,
      preserveOnCompact: true,
      propagate: 'all',
      roleHint: 'developer',
      source: 'coordinator-agent',
      firedAtTurn: 4,
      mode: 'interrupt_immediate',
    }
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const first = await inject(whole, { metadata: { origin: 'me' } })
    expect(first.result).toEqual({ reminderId: 'r-1', dedupedCount: 0, acceptedAt: instant })
    expect(await list()).toEqual([{ ...whole, metadata: { origin: 'me' }, acceptedAt: instant }])
    const second = await inject({ body: 'Merged.', dedupeKey: whole.dedupeKey })
    expect(second.result).toMatchObject({ dedupedCount: 1 })
    expect(await list()).toEqual([
      {
        id: second.result.reminderId,
        body: 'Merged.',
        tags: [],
        dedupeKey: whole.dedupeKey,
        preserveOnCompact: false,
        propagate: 'session',
        roleHint: 'system',
        mode: 'finish_step',
        acceptedAt: instant,
      },
    ])
    expect((await clear({ dedupeKey: whole.dedupeKey })).result).toEqual({ clearedCount: 1 })
    expect(await list()).toEqual([])
  })

  it('gives the first answer again for the same id, also when the reminder is gone', async () => {
    await inject({ body: 'older', dedupeKey: 'same' })
    const reminder = { id: 'r-same', body: 'once', dedupeKey: 'same' }
    const { result } = await inject(reminder)
    expect(result.dedupedCount).toBe(1)
    await clear()
    testServer.clock.advance(1_000)
    expect((await inject(reminder)).result).toEqual(result)
    expect(await list()).toEqual([])
    const other = await inject({ ...reminder, body: 'twice' })
    const invalid = isRest && version === '1.0' ? 400 : -32602
    expect(other).toMatchObject({ code: invalid, path: 'reminder.id' })
  })

  it('takes or refuses every value of every field, and names the field', async () => {
    const code = isRest && version === '1.0' ? 400 : -32602
    const { version: before } = await testServer.engine.get(anyone, taskId)
    let written = 0
    for (const [field, rightOnes] of Object.entries(rights)) {
      for (const [name, value] of Object.entries(values)) {
        const reminder = { body: 'b', [field]: value }
        const answer = await inject(reminder)
        const what = `${field}: ${name}`
        if (rightOnes.includes(name)) {
          expect(answer.code, what).toBeUndefined()
          await clear()
          written += 2
        } else {
          expect(answer.code, what).toBe(code)
          expect(answer.path, what).toMatch(new RegExp(`^reminder\\.${field}(\\.0)?$`))
        }
      }
    }
    expect((await testServer.engine.get(anyone, taskId)).version).toBe(before + written)
  })

  const sizes: readonly (readonly [string, object, object])[] = [
    ['body', { body: 'x'.repeat(16_384) }, { body: 'x'.repeat(16_385) }],
    ['id', { id: 'x'.repeat(256) }, { id: 'x'.repeat(257) }],
    ['dedupeKey', { dedupeKey: 'x'.repeat(256) }, { dedupeKey: 'x'.repeat(257) }],
    ['source', { source: 'x'.repeat(256) }, { source: 'x'.repeat(257) }],
    ['tags', { tags: Array(32).fill('t') }, { tags: Array(33).fill('t') }],
    ['tags.0', { tags: ['x'.repeat(256)] }, { tags: ['x'.repeat(257)] }],
    ['ttlTurns', { ttlTurns: 2 ** 53 - 1 }, { ttlTurns: 2 ** 53 }],
    ['firedAtTurn', { firedAtTurn: 0 }, { firedAtTurn: -1 }],
  ]

  it.each(sizes)('limits the size of %s', async (field, most, more) => {
    expect((await inject({ body: 'b', ...(most as object) })).code).toBeUndefined()
    expect((await inject({ body: 'b', ...(more as object) })).path).toBe(`reminder.${field}`)
    await clear()
  })

  it('limits the metadata that comes back with it', async () => {
    const most = { text: 'x'.repeat(16_384 - '{"text":""}'.length) }
    expect((await inject({ body: 'b' }, { metadata: most })).code).toBeUndefined()
    const more = { text: `${most.text}x` }
    expect((await inject({ body: 'b' }, { metadata: more })).path).toBe('metadata')
    expect((await inject({ body: 'b' }, { metadata: 'me' })).path).toBe('metadata')
    await clear()
  })

  it('refuses what is not a reminder, and parameters it does not know', async () => {
    for (const reminder of [undefined, null, 'be brief', 7, [], true] as Loose[]) {
      expect((await inject(reminder)).path).toBe('reminder')
    }
    expect((await inject({ body: 'b', colour: 'red' })).path).toBe('reminder.colour')
    expect((await inject({ body: 'b', dedupe_key: 'k' })).path).toBe('reminder.dedupe_key')
    expect((await inject({ body: 'b' }, { urgent: true })).path).toBe('urgent')
    expect((await ask(testServer, 'tasks/list_reminders', { taskId, all: true })).path).toBe('all')
    for (const selector of [{ id: '' }, { id: 7 }, { tag: {} }, { dedupeKey: [] }, { body: 'b' }]) {
      expect((await clear(selector)).path).toBe(Object.keys(selector)[0])
    }
    expect(await list()).toEqual([])
  })

  it('refuses one more than may be pending, and drops none', async () => {
    for (let n = 0; n < 64; n++) await inject({ body: 'b', dedupeKey: `k-${n}` })
    const full = await inject({ body: 'one more' })
    const code = isRest && version === '1.0' ? 400 : -32011
    expect(full).toMatchObject({ code, reason: 'REMINDER_LIMIT' })
    expect(await list()).toHaveLength(64)
    expect((await inject({ body: 'instead', dedupeKey: 'k-3' })).result.dedupedCount).toBe(1)
    expect((await clear()).result).toEqual({ clearedCount: 64 })
  })

  it('says of every refusal what it is about', async () => {
    const deaf = agent({ ...createScriptAgent({ name: 'deaf' }), reminders: false })
    const other = await openTestServer({ agents: [createScriptAgent(), deaf] })
    const ended = await other.ok('0.3', 'message/send', { message: textMessage('0.3', 'x') })
    const quiet = await other.engine.send(anyone, {
      agent: 'deaf',
      message: { messageId: 'q', role: 'ROLE_USER', parts: [{ text: 'x' }] },
    })
    const silent = quiet.kind === 'task' ? quiet.task.id : ''
    const codes = codesOf(isRest, version)
    for (const method of Object.keys(actions)) {
      const reminder = method === 'tasks/inject_reminder' ? { reminder: { body: 'b' } } : {}
      const about = async (id: string): Promise<Answer> =>
        ask(other, method, { taskId: id, ...reminder })
      expect(await about('nope'), method).toMatchObject({
        code: codes.unknown,
        reason: 'TASK_NOT_FOUND',
      })
      expect(await about(silent), method).toMatchObject({ code: codes.off, reason: 'NOT_OFFERED' })
      if (method === 'tasks/list_reminders') continue
      expect(await about(ended.id), method).toMatchObject({
        code: codes.terminal,
        reason: 'TASK_TERMINAL',
      })
    }
  })
})

function codesOf(isRest: boolean, version: Version) {
  if (isRest && version === '1.0') return { unknown: 404, off: 404, terminal: 400 }
  return { unknown: version === '0.3' ? -32004 : -32001, off: -32601, terminal: -32011 }
}

const words = ['session', 'none', 'all', 'system', 'developer'] as const
const modes = ['interrupt_immediate', 'finish_step', 'wait_for_completion'] as const
const texts = ['digit', ...words, ...modes]

/** Values of every kind, and which of them each field takes. */
const values: Readonly<Record<string, unknown>> = {
  null: null,
  true: true,
  zero: 0,
  one: 1,
  half: 1.5,
  minus: -1,
  empty: '',
  blank: ' \t\n',
  digit: '1',
  ...Object.fromEntries([...words, ...modes].map((word) => [word, word])),
  list: [],
  texts: ['a', 'b'],
  blanks: [' '],
  numbers: [1],
  object: {},
}
const rights: Readonly<Record<string, readonly string[]>> = {
  id: texts,
  body: texts,
  tags: ['list', 'texts'],
  dedupeKey: ['null', ...texts],
  ttlTurns: ['null', 'one'],
  preserveOnCompact: ['true'],
  propagate: ['session', 'none', 'all'],
  roleHint: ['system', 'developer'],
  source: ['null', ...texts],
  firedAtTurn: ['null', 'zero', 'one'],
  mode: modes,
}

describe('every change reaches the streams', () => {
  const ops = [
    { park: { reason: 'x' } },
    { turn: [{ say: 'looking' }] },
    { compact: true },
    { turn: [{ say: 'looking' }] },
  ]
  const reminders = [
    { id: 'old', body: 'Displaced.', dedupeKey: 'k', ttlTurns: 1 },
    { id: 'new', body: 'Displaces.', dedupeKey: 'k', ttlTurns: 1 },
    { id: 'cleared', body: 'Cleared.' },
    { id: 'light', body: 'Dropped by the compaction.' },
    { id: 'heavy', body: 'Preserved.', preserveOnCompact: true },
  ]
  const expected = [
    ['deduped', 'old'],
    ['expired', 'cleared', 'cleared'],
    ['emitted', 'new'],
    ['emitted', 'light'],
    ['emitted', 'heavy'],
    ['expired', 'new', 'ttl'],
    ['expired', 'light', 'compaction'],
    ['expired', 'heavy', 'task_ended'],
  ]

  async function watched(
    version: Version,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Loose[]> {
    const testServer = await openTestServer({
      agents: [agent({ ...createScriptAgent(), providers: { resumed: false } })],
    })
    const method = version === '0.3' ? 'message/stream' : 'SendStreamingMessage'
    const stream = await testServer.stream(
      version,
      method,
      { message: scripted(version, ops) },
      headers,
    )
    const [first] = await take(stream, 1)
    const taskId = first?.data.result.id ?? first?.data.result.task.id
    await testServer.engine.waitFor(anyone, taskId, ({ state }) => state === 'paused-by-agent')
    for (const reminder of reminders)
      await testServer.ok(version, 'tasks/inject_reminder', { taskId, reminder })
    await testServer.ok(version, 'tasks/clear_reminders', { taskId, id: 'cleared' })
    await testServer.ok(version, 'tasks/resume', { taskId })
    return (await all(stream)).map(({ data }) => data)
  }

  it('of 0.3, as notifications, for those who ask', async () => {
    const frames = await watched('0.3', { 'x-a2a-extensions': 'urn:lull:a2a:rfc-notifications:1' })
    const told = frames.filter(({ method }) => method?.startsWith('tasks/reminder'))
    expect(
      told.map(({ method, params }) => {
        const { reminder, reminderId, displacedIds, reason } = params
        const id = displacedIds?.[0] ?? reminder?.id ?? reminderId
        const word = method.slice('tasks/reminder'.length).toLowerCase()
        return reason === undefined ? [word, id] : [word, id, reason]
      }),
    ).toEqual(expected)
    expect(told.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === undefined)).toBe(true)
  })

  it('of 1.0, as status updates that repeat the state', async () => {
    const frames = await watched('1.0')
    const updates = frames.map(({ result }) => result.statusUpdate)
    const told = updates.filter((one) => one?.metadata?.['urn:lull:a2a:reminders:1'] !== undefined)
    expect(
      told.map(({ metadata }) => {
        const change = metadata['urn:lull:a2a:reminders:1']
        const id = change.displaced?.[0] ?? change.reminder?.id ?? change.reminderId
        return change.reason === undefined ? [change.event, id] : [change.event, id, change.reason]
      }),
    ).toEqual(expected)
    expect(new Set(told.map(({ status }) => status.state))).toEqual(new Set(['TASK_STATE_WORKING']))
    expect(told.every(({ status }) => status.message === undefined)).toBe(true)
  })
})
