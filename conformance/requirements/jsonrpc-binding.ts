/** A2A v1.0 §9: the JSON-RPC binding. */
import { check, explains, fails, has, is, live, matches, shaped, succeeds } from '../checks.ts'
import { METHODS } from '../dialects/jsonrpc.ts'
import type { Case, Step } from '../model.ts'
import { ABSENT_ID, get, send, user } from '../steps.ts'
import { at, isObject, show } from '../values.ts'
import { JSONRPC, must, STREAMING } from './define.ts'

import { table } from './error-table.ts'

const JSON_HEADERS = { 'content-type': 'application/json', 'a2a-version': '1.0' }

export const JSONRPC_BINDING: readonly Case[] = [
  must(
    'JSONRPC-FMT-001',
    '9.1',
    'Answers are JSON-RPC 2.0 with the id of the request',
    [
      ...([1, 'a string', 0] as const).map(
        (id): Step => ({
          http: {
            method: 'POST',
            headers: JSON_HEADERS,
            body: { jsonrpc: '2.0', id, method: 'ListTasks', params: {} },
          },
          expect: [is('body.jsonrpc', '2.0'), is('body.id', id), has('body.result')],
        }),
      ),
    ],
    JSONRPC,
  ),
  must(
    'JSONRPC-FMT-002',
    '9.1',
    'Answers are application/json',
    [
      { do: 'list', with: {}, expect: [matches('headers.content-type', /^application\/json/)] },
      get(ABSENT_ID, { expect: [matches('headers.content-type', /^application\/json/)] }),
    ],
    JSONRPC,
  ),
  must(
    'JSONRPC-SVC-001',
    '9.1',
    'Every operation has its method',
    [
      ...Object.values(METHODS['1.0'])
        .filter((method) => /^[A-Z]/.test(method))
        .map(
          (method): Step => ({
            http: {
              method: 'POST',
              headers: JSON_HEADERS,
              body: { jsonrpc: '2.0', id: 1, method, params: {} },
            },
            expect: [
              check(`${method} is known`, (got) =>
                got.error?.code === -32601 ? show(got.body) : undefined,
              ),
            ],
          }),
        ),
    ],
    JSONRPC,
  ),
  must(
    'JSONRPC-SVC-002',
    '9.2',
    'Service parameters travel as headers',
    [
      send(user('tck-complete-task'), {
        headers: { 'a2a-extensions': 'urn:example:nobody-knows-this' },
        expect: [succeeds],
      }),
    ],
    JSONRPC,
  ),
  must(
    'JSONRPC-ERR-001',
    '9.5',
    'Errors are JSON-RPC error objects',
    [
      get(ABSENT_ID, {
        expect: [
          check('code, message, data and nothing else', (got) => {
            const error = at(got.body, 'error')
            if (!isObject(error)) return show(got.body)
            const strange = Object.keys(error).find(
              (key) => !['code', 'message', 'data'].includes(key),
            )
            const { code, message, data } = error
            if (!Number.isInteger(code) || typeof message !== 'string') return show(error)
            if (data !== undefined && !Array.isArray(data)) return `data is ${show(data)}`
            return strange
          }),
        ],
      }),
    ],
    JSONRPC,
  ),
  ...table(
    'JSONRPC-ERR-002',
    '9.5',
    'A2A errors are between -32001 and -32099',
    () => [
      check('the code is in range', ({ error }) =>
        error?.code !== undefined && error.code <= -32001 && error.code >= -32099
          ? undefined
          : show(error),
      ),
    ],
    JSONRPC,
  ),
  ...table('JSONRPC-ERR-003', '9.5', 'ErrorInfo in data', (name) => [explains(name)], JSONRPC),
  must(
    'JSONRPC-SSE-001',
    '9.4.2',
    'Streams are text/event-stream of JSON-RPC answers',
    [
      {
        do: 'stream',
        with: { message: user('tck-stream-001') },
        expect: [
          matches('headers.content-type', /^text\/event-stream/),
          live,
          check('every frame is an answer with a StreamResponse', (got, context) => {
            for (const { data } of got.frames ?? []) {
              if (at(data, 'jsonrpc') !== '2.0' || at(data, 'id') !== at(got.frames, '0.data.id')) {
                return show(data)
              }
              const one = { ...got, result: at(data, 'result') }
              const problem = shaped('StreamResponse', 'result').test(one, context)
              if (problem !== undefined) return problem
            }
            return undefined
          }),
        ],
      },
    ],
    { ...JSONRPC, ...STREAMING },
  ),
  ...table('JSONRPC-SSE-002', '5.4', 'The code table', (name) => [fails(name)], JSONRPC),
]
