/** A2A v1.0 §11: the HTTP+JSON binding. */
import {
  check,
  endsTerminal,
  explains,
  failsWithStatus,
  is,
  matches,
  none,
  oneOf,
  refused,
  shaped,
  succeeds,
} from '../checks.ts'
import type { Case, Step } from '../model.ts'
import { ABSENT_ID, completed, FIRST, get, send, user, waiting } from '../steps.ts'
import { at, isObject, show } from '../values.ts'
import { must, REST, STREAMING } from './define.ts'

import { table } from './error-table.ts'

const JSON_HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' }

const aip193 = check('error has code, status, message, details', (got) => {
  const error = at(got.body, 'error')
  if (!isObject(error)) return `no error object: ${show(got.body)}`
  if (error['code'] !== got.status) return `error.code ${show(error['code'])}, HTTP ${got.status}`
  if (typeof error['message'] !== 'string') return 'no error.message'
  return typeof error['status'] === 'string' ? undefined : 'no error.status'
})

const mediaType = check('the media type of the profile', (got, { profile }) => {
  const found = got.headers['content-type'] ?? ''
  const allowed = profile === '1.0.0' ? /^application\/json/ : /^application\/(a2a\+)?json/
  return allowed.test(found) ? undefined : found
})

export const REST_BINDING: readonly Case[] = [
  must(
    'HTTP_JSON-URL-001',
    '11.3',
    'Every operation has its address',
    [
      completed,
      get(FIRST, { expect: [succeeds] }),
      { do: 'list', with: {}, expect: [succeeds] },
      waiting,
      {
        http: {
          method: 'GET',
          path: '/tasks/{first.task.id}/pushNotificationConfigs',
          headers: JSON_HEADERS,
        },
        expect: [oneOf('status', [200, 400])],
      },
      {
        http: {
          method: 'POST',
          path: '/tasks/{first.task.id}:cancel',
          headers: JSON_HEADERS,
          body: {},
        },
        expect: [is('status', 200)],
      },
    ],
    REST,
  ),
  must(
    'HTTP_JSON-URL-002',
    '11.3',
    'Verbs are the right ones, others are refused',
    [
      completed,
      ...(
        [
          ['GET', '/message:send'],
          ['DELETE', '/tasks/{first.task.id}'],
          ['GET', '/tasks/{first.task.id}:cancel'],
          ['PUT', '/tasks/{first.task.id}'],
        ] as const
      ).map(
        ([method, path]): Step => ({
          http: { method, path, headers: JSON_HEADERS },
          expect: [refused],
        }),
      ),
    ],
    REST,
  ),
  must(
    'HTTP_JSON-SVC-001',
    '11.1',
    'Answers have the media type and the shape',
    [
      completed,
      get(FIRST, { expect: [mediaType, shaped('Task', 'body')] }),
      get(ABSENT_ID, { expect: [mediaType] }),
    ],
    REST,
  ),
  must(
    'HTTP_JSON-SVC-002',
    '11.2',
    'Service parameters travel as headers',
    [
      send(user('tck-complete-task'), {
        headers: { 'a2a-extensions': 'urn:example:nobody-knows-this' },
        expect: [succeeds],
      }),
    ],
    REST,
  ),
  must(
    'HTTP_JSON-QP-001',
    '11.5',
    'Query parameters are camelCase',
    [
      completed,
      {
        http: {
          method: 'GET',
          path: '/tasks/{first.task.id}?historyLength=0',
          headers: JSON_HEADERS,
        },
        expect: [is('status', 200), none('body.history')],
      },
      {
        http: {
          method: 'GET',
          path: '/tasks?contextId={first.task.contextId}&pageSize=1&includeArtifacts=false',
          headers: JSON_HEADERS,
        },
        expect: [is('status', 200), is('body.tasks.0.id', FIRST), is('body.pageSize', 1)],
      },
    ],
    REST,
  ),
  must(
    'HTTP_JSON-ERR-001',
    '11.6',
    'Errors are {error: {code, status, message, details}}',
    [get(ABSENT_ID, { expect: [aip193] }), { do: 'send', with: {}, expect: [aip193] }],
    REST,
  ),
  ...table('HTTP_JSON-ERR-002', '11.6', 'ErrorInfo in details', (name) => [explains(name)], REST),
  ...table(
    'HTTP_JSON-STATUS-001',
    '5.4',
    'The HTTP status table',
    (name) => [failsWithStatus(name)],
    REST,
  ),
  must(
    'HTTP_JSON-SSE-001',
    '11.7',
    'Streams are text/event-stream of StreamResponses',
    [
      {
        do: 'stream',
        with: { message: user('tck-stream-001') },
        expect: [
          matches('headers.content-type', /^text\/event-stream/),
          endsTerminal,
          check('every frame is a bare StreamResponse', (got, context) => {
            for (const { data } of got.frames ?? []) {
              const problem = shaped('StreamResponse', 'result').test(
                { ...got, result: data },
                context,
              )
              if (problem !== undefined) return problem
            }
            return undefined
          }),
        ],
      },
    ],
    { ...REST, ...STREAMING },
  ),
]
