/** A2A v1.0 §5.1: what all bindings share; §10: gRPC, which this runner does not speak yet. */
import { check, is, isTask, refused, succeeds } from '../checks.ts'
import type { Case } from '../model.ts'
import { ABSENT_ID, FIRST, get, send, user, waiting } from '../steps.ts'
import { at, equal, isObject, show } from '../values.ts'
import { JSONRPC, must } from './define.ts'

const stripped = (task: unknown): unknown => (isObject(task) ? { ...task } : task)

export const INTEROP: readonly Case[] = [
  must(
    'BIND-EQUIV-001',
    '5.1',
    'What one binding made the other can see and end',
    [
      { ...waiting, via: 'jsonrpc' },
      get(FIRST, { via: 'rest', expect: [succeeds, is('task.id', FIRST)] }),
      { do: 'cancel', with: { id: FIRST }, via: 'rest', expect: [succeeds] },
      get(FIRST, { via: 'jsonrpc', expect: [is('task.status.state', 'TASK_STATE_CANCELED')] }),
    ],
    { ...JSONRPC, needs: ['both-bindings'] },
  ),
  must(
    'BIND-EQUIV-002',
    '5.1',
    'Both bindings answer with the same task',
    [
      { ...send(user('tck-artifact-text'), { as: 'first', assume: [isTask] }), via: 'jsonrpc' },
      get(FIRST, { via: 'jsonrpc', as: 'here' }),
      get(FIRST, {
        via: 'rest',
        expect: [
          check('the same task', (got, { vars }) =>
            equal(stripped(got.task), stripped(at(vars, 'here.task')))
              ? undefined
              : `${show(got.task)} against ${show(at(vars, 'here.task'))}`,
          ),
        ],
      }),
    ],
    { ...JSONRPC, needs: ['both-bindings'] },
  ),
  must(
    'BIND-EQUIV-003',
    '5.1',
    'Both bindings refuse with the same error',
    [
      get(ABSENT_ID, {
        via: 'jsonrpc',
        as: 'here',
        expect: [is('error.reason', 'TASK_NOT_FOUND')],
      }),
      get(ABSENT_ID, { via: 'rest', expect: [is('error.reason', '$here.error.reason')] }),
    ],
    { ...JSONRPC, needs: ['both-bindings'] },
  ),
  must(
    'BIND-EQUIV-004',
    '5.1',
    'Both bindings ask for the same credentials',
    [
      { do: 'list', with: {}, via: 'jsonrpc', expect: [refused] },
      { do: 'list', with: {}, via: 'rest', expect: [refused] },
    ],
    { ...JSONRPC, needs: ['both-bindings', 'security'] },
  ),
  ...(
    [
      ['GRPC-SVC-001', '10.1', 'The A2AService of the normative proto'],
      ['GRPC-SVC-002', '10.1', 'proto3 serialization'],
      ['GRPC-SVC-003', '10.1', 'HTTP/2 with TLS'],
      ['GRPC-META-001', '10.2', 'Service parameters are metadata'],
      ['GRPC-ERR-001', '10.6', 'ErrorInfo in the status details'],
      ['GRPC-ERR-002', '5.4', 'The gRPC status table'],
      ['GRPC-ERR-003', '10.7', 'Streams are server streaming rpcs'],
    ] as const
  ).map(([id, section, title]) =>
    must(id, section, title, [], {
      bindings: ['grpc'],
      excluded: 'not applicable yet: this runner has no gRPC driver, and Lull no gRPC port',
    }),
  ),
]
