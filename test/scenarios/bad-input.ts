/**
 * Every field of every control method, and every way we know to get it wrong. A wrong value is put in the place its path
 * names, in a request that is right otherwise; the error names the same path, or the one given with the value.
 */
export const ABSENT: unique symbol = Symbol('absent')

export type Wrong = unknown | Elsewhere
type WrongOf = Readonly<Record<string, readonly Wrong[]>>

/** A value whose error is found at another place than its own. */
export interface Elsewhere {
  readonly value: unknown
  readonly path: string
}

export interface ControlMethod {
  /** JSON-RPC. */
  readonly name: string
  /** REST: what follows the colon. */
  readonly action: string
  /** The state in which a task takes it. */
  readonly from: 'working' | 'paused-by-agent'
  /** Everything it can be told, and nothing wrong with it; `taskId` comes on top. */
  readonly right: Readonly<Record<string, unknown>>
  readonly wrong: WrongOf
}

const at = (path: string, value: unknown): Elsewhere => ({ path, value })
const isAt = (path: string, ...values: readonly unknown[]): readonly Elsewhere[] =>
  values.map((value) => at(path, value))

const noText = [5, true, [], {}, null]
const noObject = [5, 'x', true, []]
const noBoolean = ['yes', 0, [], {}, null]

/** In JSON-RPC; the path of a REST request has no place for most of them. */
export const wrongIds: readonly unknown[] = [ABSENT, ...noText, '', 'x'.repeat(257)]

const wrongMetadata: WrongOf = { metadata: [...noObject, null] }

const filters: readonly Wrong[] = [
  ...isAt('conditions.trigger.filter', 'type', 5, [], {}, { sql: 'x' }),
  at('conditions.trigger.filter', { exact: { type: 'a' }, prefix: { type: 'b' } }),
  at('conditions.trigger.filter.exact', { exact: {} }),
  at('conditions.trigger.filter.exact', { exact: 'a' }),
  at('conditions.trigger.filter.prefix.type', { prefix: { type: 5 } }),
  at('conditions.trigger.filter.suffix.type', { suffix: { type: '' } }),
  at('conditions.trigger.filter.all', { all: [] }),
  at('conditions.trigger.filter.all.0', { all: [{}] }),
  at('conditions.trigger.filter.any', { any: 'x' }),
  at('conditions.trigger.filter.any.1.exact', { any: [{ exact: { type: 'a' } }, { exact: {} }] }),
  at('conditions.trigger.filter.not', { not: 5 }),
]

const conditions = {
  onEvent: 'ci.build.completed:1234',
  trigger: { filter: { exact: { type: 'deploy' } } },
  timeout: { durationMinutes: 5, onTimeout: 'resume_with_input', input: { late: true } },
  since: 'now',
}

const EVERY_MINUTE = '* * * * *'

const wrongConditions: WrongOf = {
  conditions: noObject,
  'conditions.onTuesday': [true],
  'conditions.onEvent': [...noText, '', '  ', 'a\nb', '\u0000', 'x'.repeat(257)],
  'conditions.trigger': [
    ...['ci', 5, [], {}, null, { when: 'soon' }],
    // One at a time.
    { at: '2030-01-01T00:00:00Z', filter: { exact: { type: 'deploy' } } },
    ...isAt('conditions.trigger.at', { at: 'noon' }, { at: 5 }, { at: '2026-01-01' }),
    ...isAt('conditions.trigger.at', { at: '2026-13-01T00:00:00Z' }, { at: '' }),
    ...isAt('conditions.trigger.schedule', { schedule: EVERY_MINUTE }, { schedule: [] }),
    ...isAt('conditions.trigger.schedule.cron', { schedule: {} }, { schedule: { cron: '' } }),
    ...isAt('conditions.trigger.schedule.cron', { schedule: { cron: 'never' } }),
    at('conditions.trigger.schedule.cron', { schedule: { cron: 5 } }),
    // The thirtieth of February.
    at('conditions.trigger.schedule.cron', { schedule: { cron: '0 0 30 2 *' } }),
    at('conditions.trigger.schedule.timezone', {
      schedule: { cron: EVERY_MINUTE, timezone: 'Mars/Olympus' },
    }),
    at('conditions.trigger.schedule.timezone', { schedule: { cron: EVERY_MINUTE, timezone: '' } }),
    at('conditions.trigger.schedule.every', { schedule: { cron: EVERY_MINUTE, every: 5 } }),
  ],
  'conditions.trigger.filter': filters,
  'conditions.timeout': [...noObject, null],
  'conditions.timeout.durationMinutes': [ABSENT, 0, -1, '5', true, null, 1e300],
  'conditions.timeout.onTimeout': ['explode', 5, null],
  'conditions.timeout.duration': [5],
  'conditions.since': ['yesterday', 5, null],
}

const TOO_LONG = 'x'.repeat(1_001)

const reminder = {
  id: 'reminder-1',
  body: 'Mind the gap.',
  tags: ['a', 'b'],
  dedupeKey: 'gap',
  ttlTurns: 2,
  preserveOnCompact: true,
  propagate: 'all',
  roleHint: 'developer',
  source: 'coordinator',
  firedAtTurn: 4,
  mode: 'wait_for_completion',
}

export const controlMethods: readonly ControlMethod[] = [
  {
    name: 'tasks/pause',
    action: 'pause',
    from: 'working',
    right: {
      reason: 'operator review',
      mode: 'interrupt_immediate',
      conditions,
      graceMs: 60_000,
      cascade: true,
      metadata: { a: 1 },
    },
    wrong: {
      reason: [...noText, TOO_LONG],
      mode: ['now', '', ...noText],
      ...wrongConditions,
      graceMs: [-1, 1.5, 60_001, '5', true, null],
      cascade: noBoolean,
      ...wrongMetadata,
      color: ['red'],
      constructor: [1],
    },
  },
  {
    name: 'tasks/resume',
    action: 'resume',
    from: 'paused-by-agent',
    right: { input: { approved: true }, continueTranscript: false, metadata: { a: 1 } },
    wrong: {
      handle: [5, true, [], {}, ''],
      continueTranscript: noBoolean,
      ...wrongMetadata,
      'metadata.idempotencyKey': [...noText, ''],
      inputs: [1],
    },
  },
  {
    name: 'tasks/await_resumption',
    action: 'awaitResumption',
    from: 'working',
    right: { reason: 'waiting on ci', conditions, summary: 'ETA 3m', metadata: { a: 1 } },
    wrong: {
      reason: [ABSENT, ...noText, TOO_LONG],
      summary: [...noText, 'x'.repeat(4_001)],
      ...wrongConditions,
      ...wrongMetadata,
      mode: ['finish_step'],
    },
  },
  {
    name: 'tasks/inject_reminder',
    action: 'injectReminder',
    from: 'working',
    right: { reminder, metadata: { a: 1 } },
    wrong: {
      reminder: [...noObject, null, ABSENT],
      'reminder.id': [...noText, '', 'x'.repeat(257)],
      'reminder.body': [ABSENT, ...noText, '', ' \n', 'x'.repeat(16_385)],
      'reminder.tags': ['a', 5, {}, null, at('reminder.tags.1', ['a', 5])],
      'reminder.dedupeKey': [5, true, [], {}, ''],
      'reminder.ttlTurns': [0, -1, 1.5, '2', true],
      'reminder.preserveOnCompact': noBoolean,
      'reminder.propagate': ['far', 5, null],
      'reminder.roleHint': ['user', 5, null],
      'reminder.source': [5, true, [], {}],
      'reminder.firedAtTurn': [-1, 1.5, '4', true],
      'reminder.mode': ['now', 5, null],
      'reminder.priority': [1],
      ...wrongMetadata,
      remind: [1],
    },
  },
  {
    name: 'tasks/list_reminders',
    action: 'listReminders',
    from: 'working',
    right: {},
    wrong: { tag: ['a'] },
  },
  {
    name: 'tasks/list_receipts',
    action: 'listReceipts',
    from: 'working',
    right: {},
    wrong: { kind: ['a'] },
  },
  {
    name: 'tasks/clear_reminders',
    action: 'clearReminders',
    from: 'working',
    right: { id: 'reminder-1', tag: 'a', dedupeKey: 'gap' },
    wrong: {
      id: [...noText, '', 'x'.repeat(257)],
      tag: noText,
      dedupeKey: noText,
      tags: [['a']],
    },
  },
]

export const rightEvent: Readonly<Record<string, unknown>> = {
  specversion: '1.0',
  id: 'e-1',
  source: '/ci',
  type: 'ci.build.completed',
  subject: '1234',
  time: '2026-04-30T12:34:56.789Z',
  datacontenttype: 'application/json',
  dataschema: 'https://ci.example.com/schema',
  data: { ok: true },
  tries: 3,
}

/** Null is how CloudEvents says that an attribute is not there. */
const noAttribute = [5, true, [], {}, '']

export const wrongEvents: WrongOf = {
  specversion: [ABSENT, '0.3', 1, null],
  id: [ABSENT, null, ...noAttribute, 'x'.repeat(257)],
  source: [ABSENT, null, ...noAttribute, 'x'.repeat(2_049)],
  type: [ABSENT, null, ...noAttribute, 'x'.repeat(257)],
  subject: [...noAttribute, 'x'.repeat(2_049)],
  time: [...noAttribute, 'noon', '2026-04-30', '2026-13-01T00:00:00Z'],
  datacontenttype: [...noAttribute, 'x'.repeat(257)],
  dataschema: noAttribute,
  data_base64: ['YQ=='],
  tries: [1.5, [], {}],
  'Build-Id': ['x'],
}

/** The request with the value in the place the path names. */
export function withWrong(right: object, path: string, value: unknown): object {
  const [name = '', ...rest] = path.split('.')
  const inner = (right as Readonly<Record<string, unknown>>)[name]
  const { [name]: _, ...others } = right as Readonly<Record<string, unknown>>
  if (rest.length > 0) {
    const nested = typeof inner === 'object' && inner !== null ? inner : {}
    return { ...others, [name]: withWrong(nested, rest.join('.'), value) }
  }
  return value === ABSENT ? others : { ...others, [name]: value }
}

export interface Mistake {
  /** Where the value stands. */
  readonly path: string
  readonly value: unknown
  /** Where the error is found. */
  readonly found: string
}

export function mistakes(wrong: WrongOf): readonly Mistake[] {
  return Object.entries(wrong).flatMap(([path, values]) =>
    values.map((given) =>
      isElsewhere(given)
        ? { path, value: given.value, found: given.path }
        : { path, value: given, found: path },
    ),
  )
}

function isElsewhere(given: unknown): given is Elsewhere {
  return typeof given === 'object' && given !== null && 'path' in given && 'value' in given
}

/** As a title. */
export function shown(value: unknown): string {
  if (value === ABSENT) return 'absent'
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : `${text.slice(0, 20)}… of ${text.length}`
}
