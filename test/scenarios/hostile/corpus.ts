/** Requests that were made to hold the event loop, each one of a class. All are a single request of at most 10 MiB. */
export interface HostileRequest {
  readonly name: string
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** It is a right request, and its answer may be larger than itself. */
  readonly right?: boolean
}

const json = { 'content-type': 'application/json' }
const v1 = { ...json, 'a2a-version': '1.0' }

const rpc = (name: string, method: string, params: string, right = false): HostileRequest => ({
  name,
  right,
  headers: v1,
  body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
})

const message = (more: string): string =>
  `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]${more}}}`

const list = (one: string, count: number): string => `[${Array(count).fill(one).join(',')}]`

const deep = (levels: number): string => '{"a":['.repeat(levels / 2) + ']}'.repeat(levels / 2)

const rows = (count: number, columns: number): string => list(members(columns), count)

const members = (count: number): string =>
  `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`

const pause = (name: string, conditions: string): HostileRequest =>
  rpc(name, 'tasks/pause', `{"taskId":"t","conditions":${conditions}}`)

const filter = (name: string, text: string): HostileRequest =>
  pause(name, `{"trigger":{"filter":${text}}}`)

const cron = (name: string, text: string): HostileRequest =>
  pause(name, `{"trigger":{"schedule":{"cron":"${text}"}}}`)

const batch = (name: string, text: string): HostileRequest => ({
  name,
  path: '/events',
  headers: { 'content-type': 'application/cloudevents-batch+json' },
  body: text,
})

const acp = (name: string, params: string): HostileRequest => ({
  name,
  path: '/acp',
  headers: { ...json, accept: 'application/json, text/event-stream' },
  body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`,
})

const v03 = (name: string, method: string, params: string): HostileRequest => ({
  ...rpc(name, method, params),
  headers: { ...json, 'a2a-version': '0.3' },
})

const ops = (name: string, body: string): HostileRequest => ({
  name,
  path: '/ops/holds',
  headers: json,
  body,
})

const LIMIT = 10 * 1_048_576

/** A message whose text makes the body as long as a body may be. `one` is a character as JSON writes it. */
function atTheLimit(name: string, one: string): HostileRequest {
  const text = one.repeat(Math.floor((LIMIT - 1_000) / Buffer.byteLength(one)))
  return rpc(
    name,
    'SendMessage',
    `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"${text}"}]}}`,
    true,
  )
}

const get = (name: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  ({ name, path, method: 'GET', headers: { ...v1, ...headers }, body: '', right: true }) as const

const event = (more: string): string =>
  `{"specversion":"1.0","id":"1","source":"/s","type":"t"${more}}`

/** A task that costs much to show, for its size. */
export const manyNames: HostileRequest = rpc(
  'metadata with very many names',
  'SendMessage',
  message(`,"metadata":${members(9_500)}`),
  true,
)

export const corpus: readonly HostileRequest[] = [
  rpc(
    'a list of tasks with very many names',
    'ListTasks',
    '{"pageSize":100,"historyLength":100}',
    true,
  ),
  cron('cron: years that never fire', '* * * 1W,2W,3W,4W,5W,6W,7W * +0#5 1-9999'),
  cron('cron: a long expression', `${'1,'.repeat(400_000)}1 * * * *`),
  cron('cron: very many spaces', `*${' '.repeat(1_000_000)}`),
  filter('filter: very many filters', `{"all":${list('{}', 260_000)}}`),
  filter('filter: as many as a document can have', `{"all":${list('{}', 49_000)}}`),
  filter('filter: deep', `${'{"not":'.repeat(60)}{}${'}'.repeat(60)}`),
  filter('filter: very many attributes', `{"exact":${members(40_000)}}`),
  rpc('extensions', 'SendMessage', message(`,"extensions":${list('1', 4_900_000)}`)),
  rpc('extensions within a document', 'SendMessage', message(`,"extensions":${list('1', 95_000)}`)),
  rpc('reference ids', 'SendMessage', message(`,"referenceTaskIds":${list('1', 95_000)}`)),
  rpc('parts', 'SendMessage', `{"message":{"parts":${list('{}', 95_000)}}}`),
  manyNames,
  rpc(
    'data of very many rows',
    'SendMessage',
    `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":${rows(4_500, 10)}}]}}`,
    true,
  ),
  rpc('rows with very many different names', 'SendMessage', rows(1, 45_000)),
  rpc('more names than a document may have', 'SendMessage', members(900_000)),
  rpc('names at the top', 'SendMessage', members(9_500)),
  rpc(
    'data with very many values',
    'SendMessage',
    message(`,"metadata":{"a":${list('1', 95_000)}}`),
    true,
  ),
  rpc('an id of 9 MB', 'GetTask', `{"id":"${'x'.repeat(9_000_000)}"}`),
  rpc('a context id of 9 MB', 'ListTasks', `{"contextId":"${'x'.repeat(9_000_000)}"}`),
  rpc('a method name of 9 MB', 'x'.repeat(9_000_000), '{}'),
  rpc('a text of escaped quotes', 'GetTask', `{"id":"${'\\"'.repeat(4_500_000)}"}`),
  rpc('an instant of 9 MB', 'ListTasks', `{"statusTimestampAfter":"${'1'.repeat(9_000_000)}"}`),
  rpc(
    'base64 of 9 MB',
    'SendMessage',
    `{"message":{"parts":[{"raw":"${'QUJD'.repeat(2_250_000)}!"}]}}`,
  ),
  rpc(
    'a url of 9 MB',
    'CreateTaskPushNotificationConfig',
    `{"taskId":"t","url":"http://a.example/${'%'.repeat(9_000_000)}"}`,
  ),
  { name: 'brackets', headers: v1, body: '['.repeat(9_000_000) },
  { name: 'braces', headers: v1, body: '{"a":'.repeat(2_000_000) },
  { name: 'white space', headers: v1, body: ' '.repeat(9_000_000) },
  {
    name: 'a batch of calls',
    headers: v1,
    body: list('{"jsonrpc":"2.0","id":1,"method":"GetTask"}', 14_000),
  },
  { name: 'names given twice', headers: v1, body: `{${'"a":1,'.repeat(9_500)}"a":1}` },
  {
    name: 'REST: very many query parameters',
    right: true,
    path: `/tasks?${'a=1&'.repeat(3_000)}`,
    method: 'GET',
    headers: v1,
    body: '',
  },
  { name: 'REST: a body of members', path: '/message:send', headers: v1, body: members(9_500) },
  batch('events: very many', list(event(''), 100_000)),
  batch('events: as many as a document can have', list(event(''), 10_000)),
  batch('events: wrong ones', list('{"specversion":"1.0"}', 49_000)),
  batch('events: one with very many attributes', `[${event(`,${members(9_500).slice(1, -1)}`)}]`),
  batch(
    'events: one with very many wrong names',
    `[${event(`,${members(9_500).slice(1, -1).replaceAll('"k', '"K')}`)}]`,
  ),
  {
    name: 'events: text of 9 MB',
    path: '/events',
    headers: {
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': '/s',
      'ce-type': 't',
      'content-type': 'text/plain',
    },
    body: 'x'.repeat(9_000_000),
  },
  {
    name: 'ops: a long id',
    path: `/ops/tasks/${'x'.repeat(12_000)}/timeline`,
    method: 'GET',
    body: '',
  },
  acp('ACP: very many values', `{"protocolVersion":1,"_meta":{"a":${list('{}', 3_000_000)}}}`),
  acp('ACP: as many as a document can have', `{"protocolVersion":1,"_meta":${members(9_500)}}`),
  acp('ACP: wrong ones', `{"protocolVersion":1,"clientCapabilities":${list('{}', 49_000)}}`),
  acp('ACP: brackets', `${'['.repeat(9_000_000)}`),
  v03('0.3: parts', 'message/send', `{"message":{"kind":"message","parts":${list('{}', 95_000)}}}`),
  v03(
    '0.3: a pause with very many filters',
    'tasks/pause',
    `{"taskId":"t","conditions":{"all":${list('{}', 49_000)}}}`,
  ),
  ops('ops: a hold with very many names', members(9_500)),
  ops(
    'ops: a hold for a reason of 9 MB',
    `{"scope":{"all":true},"reason":"${'x'.repeat(9_000_000)}"}`,
  ),
  cron('cron: very many ranges', `${Array(60).fill('0-59/1').join(',')} * * * *`.slice(0, 250)),
  cron('cron: never', '0 0 30 2 *'),
  cron('cron: digits without an end', `${'1'.repeat(250)}x * * * *`),
  filter('filter: wide and deep', `{"all":${list(`{"any":${list('{"not":{}}', 90)}}`, 100)}}`),
  filter('filter: a long text', `{"suffix":{"type":"${'a'.repeat(9_000_000)}"}}`),
  rpc(
    'names that are numbers, far apart',
    'SendMessage',
    message(
      `,"metadata":{${Array.from({ length: 9_500 }, (_, n) => `"${n * 65_536}":1`).join(',')}}`,
    ),
    true,
  ),
  rpc(
    'as deep as a document can be',
    'SendMessage',
    message(`,"metadata":{"a":${deep(50)}}`),
    true,
  ),
  atTheLimit('a text at the limit of a body', 'x'),
  atTheLimit('escaped controls at the limit of a body', '\\u0001'),
  atTheLimit('characters of three bytes at the limit of a body', '€'),
  atTheLimit('halves of characters at the limit of a body', '\\ud800'),
  atTheLimit('line ends at the limit of a body', '\\n'),
  rpc(
    'a list of tasks with large messages',
    'ListTasks',
    '{"pageSize":100,"includeArtifacts":true,"historyLength":100}',
    true,
  ),
  get(
    'REST: a list of tasks with large messages',
    '/tasks?pageSize=100&includeArtifacts=true&historyLength=100',
  ),
  get('a list of tasks with large messages for operators', '/ops/tasks?limit=100'),
  get('a cursor of 12,000 characters', `/tasks?pageToken=${'A'.repeat(12_000)}`),
  get('a header of very many media types', '/tasks?historyLength=0', {
    accept: 'a/b;q=0.1,'.repeat(1_200),
  }),
  get('a header of spaces', '/tasks?historyLength=0', { accept: `a${' '.repeat(12_000)}b` }),
  get('a header of very many extensions', '/tasks?historyLength=0', {
    'a2a-extensions': 'a,'.repeat(6_000),
  }),
  get('a token of 12,000 characters', '/tasks?historyLength=0', {
    authorization: `Bearer ${'a.'.repeat(6_000)}`,
  }),
  {
    name: 'a media type with very many spaces',
    headers: { ...v1, 'content-type': `application/json;${' '.repeat(12_000)}x` },
    body: '{}',
  },
]
