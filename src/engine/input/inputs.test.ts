/** Wrong input is refused with the dotted path of the mistake, before anything is decided or written. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../engine.ts'
import {
  alice,
  createHarness,
  type Harness,
  olga,
  running,
} from '../test-support/engine-harness.ts'
import {
  callOperatorVerb,
  callVerb,
  operatorSamples,
  operatorVerbNames,
  samples,
  verbNames,
} from '../test-support/verb-samples.ts'

type Call = (engine: Engine, taskId: string, wrong: never) => Promise<unknown>

const ofVerbs = verbNames.map((verb): [string, Call] => [
  verb,
  (engine, taskId, wrong) => callVerb(engine, verb, alice, taskId, wrong),
])

const ofOperators = operatorVerbNames.map((verb): [string, Call] => [
  verb,
  (engine, _taskId, wrong) => callOperatorVerb(engine, verb, olga, wrong),
])

const calls: Readonly<Record<string, Call>> = {
  ...Object.fromEntries(ofVerbs),
  ...Object.fromEntries(ofOperators),
  send: (engine, _taskId, wrong) => engine.send(alice, wrong),
  emit: (engine, _taskId, event) => engine.emit(alice, event),
  list: (engine, _taskId, wrong) => engine.list(alice, wrong),
  get: (engine, _taskId, wrong) => engine.get(alice, wrong),
  verify: (engine, _taskId, wrong) => engine.verify(alice, wrong),
  reminders: (engine, _taskId, wrong) => engine.reminders(alice, wrong),
  subscribe: (engine, taskId, wrong) => engine.subscribe(alice, taskId, wrong),
  waitFor: (engine, taskId, wrong) => engine.waitFor(alice, taskId, () => true, wrong),
}

/** The row's request is an id alone, and nothing has that id. */
const UNKNOWN = 'nothing has this id'

const part = { text: 'x' }
const sent = (message: object) => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts: [part], ...message },
})
const event = { id: '1', source: 's', type: 't' }
const wakes = (conditions: unknown) => ({ conditions })
let deep: unknown = 1
for (let depth = 0; depth < 50_000; depth++) deep = [deep]

const table: readonly [call: string, wrong: unknown, path: string][] = [
  ...verbNames.flatMap((verb): [string, unknown, string][] => [
    [verb, { ...samples[verb]('a'), taskId: 5 }, 'taskId'],
    [verb, { ...samples[verb]('a'), taskId: '' }, 'taskId'],
    [verb, { ...samples[verb]('a'), unknown: 1 }, 'unknown'],
  ]),

  ...Object.entries(operatorSamples).flatMap(([verb, sample]): [string, unknown, string][] =>
    typeof sample === 'string'
      ? [
          [verb, 5, UNKNOWN],
          [verb, '', UNKNOWN],
        ]
      : [[verb, { ...sample, unknown: 1 }, 'unknown']],
  ),

  ['send', null, ''],
  ['send', 'hello', ''],
  ['send', {}, 'message'],
  ['send', { ...sent({}), unknown: 1 }, 'unknown'],
  ['send', { ...sent({}), agent: 7 }, 'agent'],
  ['send', { ...sent({}), idempotencyKey: '' }, 'idempotencyKey'],
  ['send', { ...sent({}), metadata: [] }, 'metadata'],
  ['send', sent({ messageId: '' }), 'message.messageId'],
  ['send', sent({ messageId: 'x'.repeat(257) }), 'message.messageId'],
  ['send', sent({ role: 'user' }), 'message.role'],
  ['send', sent({ parts: [] }), 'message.parts'],
  ['send', sent({ parts: Array(257).fill(part) }), 'message.parts'],
  ['send', sent({ parts: [part, {}] }), 'message.parts.1'],
  ['send', sent({ parts: [{ text: 'x', data: 1 }] }), 'message.parts.0'],
  ['send', sent({ parts: [{ text: 1 }] }), 'message.parts.0.text'],
  ['send', sent({ parts: [{ raw: 'no base64!' }] }), 'message.parts.0.raw'],
  ['send', sent({ parts: [{ data: () => 1 }] }), 'message.parts.0.data'],
  ['send', sent({ taskId: 5 }), 'message.taskId'],
  ['send', sent({ referenceTaskIds: 'x' }), 'message.referenceTaskIds'],
  ['send', sent({ metadata: { at: 1n } }), 'message.metadata.at'],
  ['send', sent({ parts: [{ data: deep }] }), 'message'],

  ['pause', { taskId: 5 }, 'taskId'],
  ['pause', { mode: 'softly' }, 'mode'],
  ['pause', { reason: 'x'.repeat(1_001) }, 'reason'],
  ['pause', { graceMs: -1 }, 'graceMs'],
  ['pause', { graceMs: 60_001 }, 'graceMs'],
  ['pause', { graceMs: 1.5 }, 'graceMs'],
  ['pause', { cascade: 'yes' }, 'cascade'],
  ['pause', { summary: 'x' }, 'summary'],
  ['pause', wakes('event'), 'conditions'],
  ['pause', wakes({ onEvent: '' }), 'conditions.onEvent'],
  ['pause', wakes({ onEvent: ' ' }), 'conditions.onEvent'],
  ['pause', wakes({ onEvent: 'a\nb' }), 'conditions.onEvent'],
  ['pause', wakes({ onEvent: 'x'.repeat(257) }), 'conditions.onEvent'],
  ['pause', wakes({ on_event: 'x' }), 'conditions.on_event'],
  ['pause', wakes({ trigger: {} }), 'conditions.trigger'],
  ['pause', wakes({ trigger: 'cron' }), 'conditions.trigger'],
  ['pause', wakes({ trigger: { at: 'tomorrow' } }), 'conditions.trigger.at'],
  ['pause', wakes({ trigger: { filter: {} } }), 'conditions.trigger.filter'],
  ['pause', wakes({ trigger: { filter: { exact: {} } } }), 'conditions.trigger.filter.exact'],
  ['pause', wakes({ trigger: { filter: { all: [] } } }), 'conditions.trigger.filter.all'],
  [
    'pause',
    wakes({ trigger: { filter: { not: { prefix: { type: 1 } } } } }),
    'conditions.trigger.filter.not.prefix.type',
  ],
  ['pause', wakes({ trigger: { schedule: { cron: 'x' } } }), 'conditions.trigger.schedule.cron'],
  [
    'pause',
    wakes({ trigger: { schedule: { cron: '0 0 30 2 *' } } }),
    'conditions.trigger.schedule.cron',
  ],
  [
    'pause',
    wakes({ trigger: { schedule: { cron: '* * * * *', timezone: 'Mars/Olympus' } } }),
    'conditions.trigger.schedule.timezone',
  ],
  ['pause', wakes({ timeout: {} }), 'conditions.timeout.durationMinutes'],
  ['pause', wakes({ timeout: { durationMinutes: 0 } }), 'conditions.timeout.durationMinutes'],
  ['pause', wakes({ timeout: { durationMinutes: '5' } }), 'conditions.timeout.durationMinutes'],
  [
    'pause',
    wakes({ timeout: { durationMinutes: Infinity } }),
    'conditions.timeout.durationMinutes',
  ],
  [
    'pause',
    wakes({ timeout: { durationMinutes: 1, onTimeout: 'explode' } }),
    'conditions.timeout.onTimeout',
  ],
  ['pause', wakes({ since: 'yesterday' }), 'conditions.since'],

  ['park', { reason: 'x'.repeat(1_001) }, 'reason'],
  ['park', { summary: 'x'.repeat(4_001) }, 'summary'],
  ['park', wakes({ onEvent: 1 }), 'conditions.onEvent'],

  ['resume', { handle: 1 }, 'handle'],
  ['resume', { handle: '' }, 'handle'],
  ['resume', { input: () => 1 }, 'input'],
  ['resume', { input: deep }, ''],
  ['resume', { continueTranscript: 'yes' }, 'continueTranscript'],
  ['resume', { when: 'now' }, 'when'],

  ['cancel', { reason: 5 }, 'reason'],
  ['cancel', { force: true }, 'force'],

  ['remind', { reminder: null }, 'reminder'],
  ['remind', { reminder: {} }, 'reminder.body'],
  ['remind', { reminder: { body: '' } }, 'reminder.body'],
  ['remind', { reminder: { body: ' \n' } }, 'reminder.body'],
  ['remind', { reminder: { body: 'x'.repeat(16_385) } }, 'reminder.body'],
  ['remind', { reminder: { body: 'x', ttlTurns: 0 } }, 'reminder.ttlTurns'],
  ['remind', { reminder: { body: 'x', ttlTurns: 1.5 } }, 'reminder.ttlTurns'],
  ['remind', { reminder: { body: 'x', firedAtTurn: -1 } }, 'reminder.firedAtTurn'],
  ['remind', { reminder: { body: 'x', propagate: 'workspace' } }, 'reminder.propagate'],
  ['remind', { reminder: { body: 'x', roleHint: 'user' } }, 'reminder.roleHint'],
  ['remind', { reminder: { body: 'x', mode: 'audit_only' } }, 'reminder.mode'],
  ['remind', { reminder: { body: 'x', tags: 'a' } }, 'reminder.tags'],
  ['remind', { reminder: { body: 'x', dedupe_key: 'a' } }, 'reminder.dedupe_key'],
  ['clearReminders', { tag: 5 }, 'tag'],

  ['emit', 'event', 'events'],
  ['emit', [event, {}], 'events.1.id'],
  ['emit', [{ ...event, type: '' }], 'type'],
  ['emit', [event, { ...event, type: '' }], 'events.1.type'],
  ['emit', [{ ...event, source: 5 }], 'source'],
  ['emit', [{ ...event, time: 'noon' }], 'time'],
  ['emit', [{ ...event, extension: () => 1 }], 'extension'],

  ['hold', {}, 'scope'],
  ['hold', { scope: {}, reason: 'x' }, 'scope'],
  ['hold', { scope: { all: true } }, 'reason'],
  ['hold', { scope: { all: true }, reason: '' }, 'reason'],
  ['hold', { scope: { all: false }, reason: 'x' }, 'scope.all'],
  ['hold', { scope: { taskIds: [] }, reason: 'x' }, 'scope.taskIds'],
  ['hold', { scope: { all: true }, reason: 'x', holdNew: 1 }, 'holdNew'],
  ['lift', 'hold-none', UNKNOWN],

  ['list', null, ''],
  ['list', { limit: 0 }, 'limit'],
  ['list', { limit: 101 }, 'limit'],
  ['list', { states: ['asleep'] }, 'states.0'],
  ['list', { cursor: 'page two' }, 'cursor'],
  ['list', { tenant: 'evil' }, 'tenant'],
  ['list', { principal: 'bob' }, 'principal'],

  ['get', 5, 'taskId'],
  ['get', '', 'taskId'],
  ['verify', null, 'taskId'],
  ['reminders', {}, 'taskId'],
  ['subscribe', { after: -1 }, 'after'],
  ['subscribe', { after: Number.NaN }, 'after'],
  ['subscribe', { after: '3' }, 'after'],
  ['waitFor', { timeoutMs: 'soon' }, 'timeoutMs'],
]

describe('the engine', () => {
  let harness: Harness
  let id: string
  beforeAll(async () => {
    harness = await createHarness({
      agents: [running((task) => task.park({ reason: 'x' }).then(() => undefined))],
    })
    id = (await harness.send('go')).id
    await harness.until(id, 'paused-by-agent')
  })

  const cases = table.map(([call, wrong, path], row) => ({ row, call, wrong, path }))
  it.each(cases)('$call refuses what is wrong at "$path" (row $row)', async (one) => {
    const { call, wrong, path } = one
    const before = [
      await harness.log(id),
      await harness.store.count({}),
      await harness.store.holds(true),
    ]
    const refusal: unknown = await Promise.resolve()
      .then(() => calls[call]?.(harness.engine, id, wrong as never))
      .then(
        () => 'accepted',
        (error: unknown) => error,
      )
    const expected =
      path === UNKNOWN ? { code: 'NOT_FOUND' } : { code: 'INVALID_INPUT', details: { path } }
    expect(refusal).toMatchObject(expected)
    const after = [
      await harness.log(id),
      await harness.store.count({}),
      await harness.store.holds(true),
    ]
    expect(after).toEqual(before)
    expect(await harness.store.eventPositions(['acme'])).toEqual([{ last: 0, oldest: 1 }])
  })
})
