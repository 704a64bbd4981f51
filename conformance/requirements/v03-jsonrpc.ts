/** A2A v0.3: JSON-RPC 2.0 itself and the error codes (kit 0.3.x, mandatory/jsonrpc and mandatory/quality). */
import { check, fails, has, is, isTask, matches, refused, succeeds } from '../checks.ts'
import type { Case, Json, Step } from '../model.ts'
import { ABSENT_ID, completed, FIRST, get, send, user, waiting } from '../steps.ts'
import { at, equal, show } from '../values.ts'
import { must } from './define.ts'

const V03 = { versions: ['0.3'], bindings: ['jsonrpc'] } as const
const V03_ALL = { versions: ['0.3'] } as const

const rpc = (body: Json) => ({
  http: { method: 'POST', headers: { 'content-type': 'application/json' }, body },
})

const MESSAGE = {
  kind: 'message',
  messageId: 'text-message-id-{new.id}',
  role: 'user',
  parts: [{ kind: 'text', text: 'Hello' }],
}

/** One envelope per row: what is wrong, and the code it must have. */
const INVALID: readonly (readonly [string, Json, number])[] = [
  ['version', { jsonrpc: 'aaa', method: 'message/send', params: {} }, -32600],
  ['no-method', { jsonrpc: '2.0', params: {} }, -32600],
  ['unknown-method', { jsonrpc: '2.0', method: 'message/ssend', params: {} }, -32601],
  ['id', { jsonrpc: '2.0', method: 'message/send', params: {}, id: { bad: 'type' } }, -32600],
  ['params', { jsonrpc: '2.0', method: 'message/send', params: { '': 'not_a_dict' } }, -32602],
]

const errors = 'jsonrpc/a2a_error_codes'
const enhanced = 'jsonrpc/a2a_error_codes_enhanced'
const quality = 'quality/error_validation_enhanced'

const saysWhy = [has('body.error.code'), matches('body.error.message', /\w{3}/)]

/** The 0.3 codes and how each can be had from outside. */
const CODES: readonly (readonly [string, readonly Step[]])[] = [
  ['get', [get(ABSENT_ID, { expect: [fails('TaskNotFound')] })]],
  ['cancel', [{ do: 'cancel', with: { id: ABSENT_ID }, expect: [fails('TaskNotFound')] }]],
  ['resubscribe', [{ do: 'subscribe', with: { id: ABSENT_ID }, expect: [fails('TaskNotFound')] }]],
  [
    'send',
    [send(user('tck-complete-task', { taskId: ABSENT_ID }), { expect: [fails('TaskNotFound')] })],
  ],
]

export const V03_JSONRPC: readonly Case[] = [
  must(
    'V03-RPC-PARSE',
    'JSON-RPC 5.1',
    'Malformed JSON is -32700',
    [
      {
        ...rpc('{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}'),
        expect: [is('body.error.code', -32700)],
      },
    ],
    {
      ...V03,
      covers: [
        'jsonrpc/json_rpc_compliance::rejects_malformed_json',
        'jsonrpc/protocol_violations::raw_invalid_json',
      ],
    },
  ),
  ...INVALID.map(([variant, body, code]) =>
    must(
      'V03-RPC-INVALID',
      'JSON-RPC 4',
      `A request with a wrong ${variant} is ${code}`,
      [{ ...rpc(body), expect: [is('status', 200), is('body.error.code', code)] }],
      {
        ...V03,
        variant,
        covers: ['jsonrpc/json_rpc_compliance::rejects_invalid_json_rpc_requests'],
      },
    ),
  ),
  must(
    'V03-RPC-METHOD',
    'JSON-RPC 5.1',
    'An unknown method is -32601, with the id',
    [
      {
        ...rpc({ jsonrpc: '2.0', id: 'm-1', method: 'nonexistent/method', params: {} }),
        expect: [is('body.error.code', -32601), is('body.id', 'm-1'), ...saysWhy],
      },
    ],
    {
      ...V03,
      covers: [
        'jsonrpc/json_rpc_compliance::rejects_unknown_method',
        `${quality}::invalid_method_error_validation`,
      ],
    },
  ),
  must(
    'V03-RPC-PARAMS',
    'JSON-RPC 5.1',
    'Wrong params are -32602',
    [
      {
        ...rpc({
          jsonrpc: '2.0',
          id: 1,
          method: 'message/send',
          params: { message: { parts: 'x' } },
        }),
        expect: [is('body.error.code', -32602), ...saysWhy],
      },
      {
        ...rpc({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: {} }),
        expect: [is('body.error.code', -32602)],
      },
    ],
    {
      ...V03,
      covers: [
        'jsonrpc/json_rpc_compliance::rejects_invalid_params',
        `${quality}::invalid_params_error_validation`,
      ],
    },
  ),
  must(
    'V03-RPC-DUPLICATE-ID',
    'JSON-RPC 4',
    'Two requests may have the same id',
    [
      ...[1, 2].map(
        (): Step => ({
          ...rpc({
            jsonrpc: '2.0',
            id: 'twice',
            method: 'message/send',
            params: { message: MESSAGE },
          }),
          expect: [is('body.jsonrpc', '2.0'), is('body.id', 'twice'), has('body.result')],
        }),
      ),
    ],
    { ...V03, covers: ['jsonrpc/protocol_violations::duplicate_request_ids'] },
  ),
  must(
    'V03-RPC-VERSION',
    'JSON-RPC 4',
    'jsonrpc must be "2.0"',
    [
      {
        ...rpc({ jsonrpc: '1.0', id: 'v', method: 'message/send', params: { message: MESSAGE } }),
        expect: [is('body.error.code', -32600), is('body.id', 'v')],
      },
    ],
    { ...V03, covers: ['jsonrpc/protocol_violations::invalid_jsonrpc_version'] },
  ),
  must(
    'V03-RPC-NO-METHOD',
    'JSON-RPC 4',
    'method must be there',
    [
      {
        ...rpc({ jsonrpc: '2.0', id: 'n', params: { message: MESSAGE } }),
        expect: [is('body.error.code', -32600), is('body.id', 'n')],
      },
    ],
    { ...V03, covers: ['jsonrpc/protocol_violations::missing_method_field'] },
  ),
  must(
    'V03-ERR-32003',
    '8.2',
    'Push without the capability is -32003',
    [
      waiting,
      {
        do: 'pushCreate',
        with: { taskId: FIRST, url: 'https://example.com/webhook', token: 't' },
        expect: [fails('PushNotificationNotSupported')],
      },
    ],
    {
      ...V03_ALL,
      needs: ['no-push'],
      covers: [
        `${errors}::push_notification_not_supported_error_32003`,
        `${enhanced}::push_notification_not_supported_error_32003_enhanced`,
      ],
    },
  ),
  must(
    'V03-ERR-32004',
    '8.2',
    'A message to a task that has ended is -32004',
    [
      completed,
      send(user('tck-complete-task', { taskId: FIRST }), {
        expect: [fails('UnsupportedOperation')],
      }),
    ],
    {
      ...V03_ALL,
      covers: [
        `${errors}::unsupported_operation_error_32004`,
        `${enhanced}::unsupported_operation_error_32004_enhanced`,
      ],
    },
  ),
  must(
    'V03-ERR-32004',
    '8.2',
    'Streaming without the capability is -32004',
    [
      {
        do: 'stream',
        with: { message: user('tck-stream-001') },
        expect: [fails('UnsupportedOperation')],
      },
    ],
    {
      ...V03_ALL,
      variant: 'no-streaming',
      needs: ['no-streaming'],
      covers: [`${errors}::unsupported_operation_error_32004`],
    },
  ),
  must(
    'V03-ERR-32005',
    '8.2',
    'A media type the agent does not take is -32005',
    [
      send(
        {
          ...user('tck-complete-task'),
          parts: [
            { text: 'Please process this file' },
            {
              raw: 'VGVzdCBkYXRh',
              filename: 'x',
              mediaType: 'application/x-unsupported-by-anyone',
            },
          ],
        },
        { expect: [fails('ContentTypeNotSupported')] },
      ),
    ],
    {
      ...V03_ALL,
      covers: [
        `${errors}::content_type_not_supported_error_32005`,
        `${enhanced}::content_type_not_supported_error_32005_enhanced`,
      ],
    },
  ),
  must('V03-ERR-32006', '8.2', 'An answer of the agent that breaks the rules is -32006', [], {
    ...V03,
    covers: [
      `${errors}::invalid_agent_response_error_32006`,
      `${enhanced}::invalid_agent_response_error_32006_enhanced`,
    ],
    excluded: 'a fault inside the server: no request can cause it (the kit skips it too)',
  }),
  ...CODES.map(([variant, steps]) =>
    must('V03-ERR-32001', '8.2', `An unknown task is -32001 for ${variant}`, steps, {
      ...V03_ALL,
      variant,
      covers: [
        `${quality}::nonexistent_resource_error_validation`,
        `${quality}::error_consistency_across_methods`,
        `${errors}::a2a_error_code_coverage_summary`,
        `${enhanced}::a2a_error_code_coverage_enhanced`,
      ],
    }),
  ),
  must(
    'V03-ERR-32002',
    '8.2',
    'Cancel of a task that has ended is -32002',
    [completed, { do: 'cancel', with: { id: FIRST }, expect: [fails('TaskNotCancelable')] }],
    { ...V03_ALL, covers: [`${errors}::a2a_error_code_coverage_summary`] },
  ),
  must(
    'V03-ERR-COMPLETE',
    '8',
    'An error has code, message, the id, and no result',
    [
      {
        ...rpc({ jsonrpc: '2.0', id: 'e-1', method: 'tasks/get', params: { id: ABSENT_ID } }),
        expect: [
          is('body.jsonrpc', '2.0'),
          is('body.id', 'e-1'),
          ...saysWhy,
          check('error or result, not both', (got) =>
            at(got.body, 'result') === undefined ? undefined : show(got.body),
          ),
        ],
      },
    ],
    { ...V03, covers: [`${quality}::error_response_completeness`] },
  ),
  must(
    'V03-EQUIV-SAME',
    '3.4.1',
    'Both bindings answer with the same task',
    [
      { ...send(user('tck-complete-task'), { as: 'first', assume: [isTask] }), via: 'jsonrpc' },
      get(FIRST, { via: 'jsonrpc', as: 'here', expect: [succeeds] }),
      get(FIRST, {
        via: 'rest',
        expect: [
          succeeds,
          check('the same id, context, state', (got, { vars }) => {
            const pick = (task: unknown) =>
              ['id', 'contextId', 'status.state'].map((path) => at(task, path))
            const there = at(vars, 'here.task')
            return equal(pick(got.task), pick(there)) ? undefined : show([got.task, there])
          }),
        ],
      }),
    ],
    {
      ...V03,
      needs: ['both-bindings'],
      covers: [
        'transport/multi_transport_equivalence::message_sending_equivalence',
        'transport/multi_transport_equivalence::task_retrieval_equivalence',
        'protocol/a2a_v030_transport_compliance::multi_transport_method_mapping',
        'protocol/a2a_v030_transport_compliance::comprehensive_a2a_v030_compliance',
      ],
    },
  ),
  must(
    'V03-EQUIV-ERRORS',
    '3.4.1',
    'Both bindings refuse what is not there',
    [
      get(ABSENT_ID, { via: 'jsonrpc', expect: [fails('TaskNotFound')] }),
      get(ABSENT_ID, { via: 'rest', expect: [refused, is('status', 404)] }),
    ],
    {
      ...V03,
      needs: ['both-bindings'],
      covers: ['transport/multi_transport_equivalence::error_handling_equivalence'],
    },
  ),
]
