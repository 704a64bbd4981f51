/**
 * Sentences of the 1.0 specification and of JSON-RPC 2.0 that the official kit does not ask about, and that servers in the
 * field get wrong.
 */
import {
  check,
  fails,
  firstIsTask,
  has,
  is,
  isTask,
  lacks,
  live,
  matches,
  refused,
  state,
  succeeds,
} from '../checks.ts'
import type { Case, Json, Step } from '../model.ts'
import { answer, completed, FIRST, get, send, subscribe, user, waiting } from '../steps.ts'
import { at, list, show } from '../values.ts'
import { BOTH, JSONRPC, must, REST, should } from './define.ts'

const rpc = (body: Json, headers: Record<string, string> = { 'a2a-version': '1.0' }) => ({
  http: { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body },
})
const LEGACY = { versions: ['0.3'], bindings: ['jsonrpc'] } as const

const ENVELOPES: Readonly<Record<string, Json>> = {
  'an empty object': {},
  'an empty batch': [],
  'a batch': [{ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }],
  'a number': '17',
  'a wrong version': { jsonrpc: '1.0', id: 1, method: 'ListTasks', params: {} },
  'an id of a wrong type': { jsonrpc: '2.0', id: { a: 1 }, method: 'ListTasks', params: {} },
}

const CONTEXT = '$first.task.contextId'

/** Bodies that break careless parsers. */
const HOSTILE: Readonly<Record<string, string>> = {
  'ten thousand levels': `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
  'a poisoned prototype':
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"__proto__":{"message":{}},"constructor":{"prototype":{}}}}',
  'a key twice': '{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"ListTasks","params":{}}',
  'a lone surrogate': '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"\\ud800"}}',
  'a very long id': `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"${'x'.repeat(50_000)}"}}`,
}

export const SPEC: readonly Case[] = [
  ...Object.entries(ENVELOPES).map(([name, body]) =>
    must(
      'SPEC-RPC-INVALID-REQUEST',
      'JSON-RPC 4',
      `${name} is not a request: -32600`,
      [{ ...rpc(body), expect: [is('body.error.code', -32600)] }],
      { ...JSONRPC, variant: name.replaceAll(' ', '-') },
    ),
  ),
  must(
    'SPEC-RPC-PARSE',
    'JSON-RPC 5.1',
    'Bytes that are not JSON are -32700',
    [{ ...rpc('{"jsonrpc": "2.0", "method": '), expect: [is('body.error.code', -32700)] }],
    JSONRPC,
  ),
  must(
    'SPEC-RPC-PARAMS',
    'JSON-RPC 5.1',
    'Params of a wrong type are -32602',
    [
      {
        ...rpc({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 17 } }),
        expect: [fails('InvalidParams')],
      },
      {
        ...rpc({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: {} }),
        expect: [fails('InvalidParams')],
      },
    ],
    JSONRPC,
  ),
  must(
    'SPEC-RPC-LEGACY-NAMES',
    '3.6.2',
    'A 1.0 method without A2A-Version is unknown, as 0.3 does not have it',
    [
      {
        ...rpc({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }, {}),
        expect: [is('body.error.code', -32601)],
      },
    ],
    LEGACY,
  ),
  must('SPEC-PARTS-EMPTY', '5.7', 'A message with no parts is refused', [
    send({ ...user('tck-complete-task'), parts: [] }, { expect: [fails('InvalidParams')] }),
  ]),
  must('SPEC-PART-ONEOF', '4.1.6', 'A part with two contents or none is refused', [
    send(
      { ...user('tck-complete-task'), parts: [{ mediaType: 'text/plain' }] },
      {
        expect: [fails('InvalidParams')],
      },
    ),
    send(
      { ...user('tck-complete-task'), parts: [{ text: 'x', url: 'https://example.com' }] },
      {
        expect: [fails('InvalidParams')],
      },
    ),
  ]),
  must('SPEC-ROLE-UNKNOWN', '4.1.5', 'An unknown role is refused', [
    send(
      { ...user('tck-complete-task'), role: 'ROLE_NOBODY' },
      { expect: [fails('InvalidParams')] },
    ),
  ]),
  must('SPEC-HISTORY-NEGATIVE', '3.2.4', 'A negative historyLength is refused', [
    completed,
    get(FIRST, { historyLength: -1, expect: [fails('InvalidParams')] }),
  ]),
  must('SPEC-PAGE-SIZE', '3.1.4', 'A pageSize outside 1 to 100 is refused', [
    { do: 'list', with: { pageSize: 0 }, expect: [fails('InvalidParams')] },
    { do: 'list', with: { pageSize: 101 }, expect: [fails('InvalidParams')] },
  ]),
  must('SPEC-PAGE-TOKEN', '3.1.4', 'A page token nobody gave out is refused', [
    { do: 'list', with: { pageToken: 'not-a-token' }, expect: [fails('InvalidParams')] },
  ]),
  should('SPEC-BODY-SIZE', '4.1.6', 'An inline file of 300 KB is taken', [
    send(
      {
        ...user('tck-complete-task'),
        parts: [{ text: 'tck-complete-task' }, { text: 'x'.repeat(300_000) }],
      },
      { expect: [succeeds] },
    ),
  ]),
  must('SPEC-LIST-AFTER', '3.1.4', 'statusTimestampAfter includes the instant itself', [
    completed,
    {
      do: 'list',
      with: { contextId: CONTEXT, statusTimestampAfter: '$first.task.status.timestamp' },
      expect: [succeeds, is('result.tasks.0.id', FIRST)],
    },
  ]),
  must('SPEC-LIST-STATUS', '3.1.4', 'A status filter shows that state only', [
    completed,
    send(user('tck-input-required', { contextId: CONTEXT }), { as: 'second', assume: [isTask] }),
    {
      do: 'list',
      with: { contextId: CONTEXT, status: 'TASK_STATE_INPUT_REQUIRED' },
      expect: [
        succeeds,
        is('result.tasks.0.id', '$second.task.id'),
        is('result.totalSize', 1),
        lacks('result.tasks.1'),
      ],
    },
  ]),
  must('SPEC-LIST-CURSOR', '3.1.4', 'A cursor survives a change of the task it stands on', [
    send(user('tck-complete-task'), { as: 'first', assume: [isTask] }),
    send(user('tck-input-required', { contextId: CONTEXT }), { as: 'second', assume: [isTask] }),
    {
      do: 'list',
      with: { contextId: CONTEXT, pageSize: 1 },
      as: 'page',
      expect: [succeeds, is('result.tasks.0.id', '$second.task.id')],
    },
    send(user('tck-complete-task', { taskId: '$second.task.id' }), { expect: [succeeds] }),
    {
      do: 'list',
      with: { contextId: CONTEXT, pageSize: 1, pageToken: '$page.result.nextPageToken' },
      expect: [
        succeeds,
        check('the older task is on the next page', (got, { vars }) => {
          const ids = list(at(got, 'result.tasks')).map((task) => at(task, 'id'))
          return ids.includes(at(vars, 'first.task.id')) ? undefined : show(ids)
        }),
      ],
    },
  ]),
  must(
    'SPEC-SUBSCRIBE-VERBS',
    '11.3',
    'A subscription can be had by GET and by POST',
    (['GET', 'POST'] as const).flatMap((method): readonly Step[] => [
      completed,
      {
        http: {
          method,
          path: '/tasks/{first.task.id}:subscribe',
          headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
        },
        // A task that has ended refuses both alike: the verb is known.
        expect: [refused, is('error.reason', 'UNSUPPORTED_OPERATION')],
      },
    ]),
    REST,
  ),
  // §3.1.6 closes a subscription at the end only; §11.7 and the topic pages also at an interruption. Hence SHOULD.
  should(
    'SPEC-STREAM-AFTER-INTERRUPT',
    '3.1.6',
    'A subscription stays open while the task waits for input',
    [
      waiting,
      subscribe('one'),
      { read: 'one', until: live, expect: [firstIsTask] },
      answer('tck-input-required', { expect: [succeeds] }),
      answer('tck-complete-task', { expect: [succeeds, state('COMPLETED')] }),
      {
        read: 'one',
        until: 'closed',
        expect: [
          check('sees the end', (got) =>
            show(got.frames?.at(-1)?.event).includes('COMPLETED')
              ? undefined
              : show(got.frames?.at(-1)?.event),
          ),
        ],
      },
    ],
    { ...BOTH, needs: ['streaming'] },
  ),
  should(
    'SPEC-REST-MEDIA',
    '11.1',
    'Who speaks application/a2a+json is answered in it',
    [
      send(user('tck-complete-task'), {
        headers: { 'content-type': 'application/a2a+json', accept: 'application/a2a+json' },
        expect: [succeeds, matches('headers.content-type', /^application\/a2a\+json/)],
      }),
    ],
    { ...REST, profiles: ['1.0.1'] },
  ),
  ...Object.entries(HOSTILE).map(([name, body]) =>
    must(
      'SPEC-INPUT',
      '3.3.2',
      `${name}: refused or taken, never a crash`,
      [
        {
          ...rpc(body),
          expect: [
            check('an answer of the protocol', (got) =>
              got.status < 500 &&
              (at(got.body, 'error.code') !== undefined || at(got.body, 'result') !== undefined)
                ? undefined
                : `HTTP ${got.status} ${got.text.slice(0, 80)}`,
            ),
          ],
        },
        completed,
      ],
      { ...JSONRPC, variant: name.replaceAll(' ', '-') },
    ),
  ),
  should('SPEC-EXTENSIONS-ECHO', '3.2.6', 'Unknown extensions are ignored, not echoed', [
    send(user('tck-complete-task'), {
      headers: { 'a2a-extensions': 'urn:example:nobody-knows-this' },
      expect: [
        succeeds,
        check('the header does not name it', (got) =>
          String(got.headers['a2a-extensions'] ?? '').includes('nobody-knows')
            ? show(got.headers)
            : undefined,
        ),
      ],
    }),
  ]),
  must(
    'SPEC-CARD-VARY',
    '8.6',
    'A card that differs by version says so',
    [
      {
        http: {
          method: 'GET',
          origin: true,
          path: '/.well-known/agent-card.json',
          headers: { 'a2a-version': '1.0' },
        },
        expect: [
          check('Vary names A2A-Version', (got) =>
            /a2a-version/i.test(got.headers['vary'] ?? '') ? undefined : show(got.headers['vary']),
          ),
        ],
      },
    ],
    { bindings: ['card'], needs: ['both-versions'] },
  ),
  must('SPEC-REJECTED', '4.1.3', 'A task the agent refuses ends as rejected', [
    send(user('tck-reject-task'), {
      assume: [isTask],
      expect: [state('REJECTED'), has('task.id')],
    }),
  ]),
]
