/** A2A v0.3: the methods and the streams (kit 0.3.x, mandatory/protocol and mandatory/transport). */
import {
  atMost,
  check,
  ended,
  endsTerminal,
  fails,
  firstIsTask,
  is,
  isTask,
  live,
  matches,
  shaped,
  state,
  succeeds,
} from '../checks.ts'
import type { Case, Step } from '../model.ts'
import {
  ABSENT_ID,
  answer,
  completed,
  FIRST,
  get,
  send,
  subscribe,
  user,
  waiting,
} from '../steps.ts'
import { at, show } from '../values.ts'
import { must } from './define.ts'

const V03 = { versions: ['0.3'] } as const
const V03_RPC = { versions: ['0.3'], bindings: ['jsonrpc'] } as const

const methods = 'protocol/a2a_v030_new_methods'
const transport = 'protocol/a2a_v030_transport_compliance'
const equivalence = 'transport/multi_transport_equivalence'

/** Ten sends at once, as ten opened streams: all must end. */
const together: readonly Step[] = [
  ...Array.from(
    { length: 10 },
    (_, i): Step => ({
      open: 'stream',
      with: { message: user('tck-stream-001') },
      as: `stream${i}`,
    }),
  ),
  ...Array.from(
    { length: 10 },
    (_, i): Step => ({
      read: `stream${i}`,
      until: 'closed',
      expect: [endsTerminal],
    }),
  ),
]

export const V03_METHODS: readonly Case[] = [
  must(
    'V03-SEND-TEXT',
    '7.1',
    'A text message is answered with a task or a message',
    [
      send(user('tck-complete-task'), {
        expect: [succeeds, shaped('SendMessageResponse', 'body.result')],
      }),
      send(user('tck-message-response'), {
        expect: [succeeds, shaped('SendMessageResponse', 'body.result')],
      }),
    ],
    { ...V03_RPC, covers: ['protocol/message_send_method::message_send_valid_text'] },
  ),
  must(
    'V03-SEND-TEXT',
    '7.1',
    'A text message is answered over REST',
    [send(user('tck-complete-task'), { expect: [succeeds, isTask, state('COMPLETED')] })],
    {
      versions: ['0.3'],
      bindings: ['rest'],
      variant: 'rest',
      covers: [
        'protocol/message_send_method::message_send_valid_text',
        `${methods}::rest_specific_features`,
        `${methods}::transport_specific_method_naming`,
      ],
    },
  ),
  must(
    'V03-SEND-INVALID',
    '7.1',
    'A message without its fields is refused',
    [{ do: 'send', with: { message: { metadata: {} } }, expect: [fails('InvalidParams')] }],
    { ...V03, covers: ['protocol/message_send_method::message_send_invalid_params'] },
  ),
  must(
    'V03-SEND-CONTINUE',
    '7.1',
    'A task is continued by its id',
    [
      waiting,
      answer('tck-complete-task', { expect: [succeeds, is('task.id', FIRST), state('COMPLETED')] }),
    ],
    { ...V03, covers: ['protocol/message_send_method::message_send_continue_task'] },
  ),
  must(
    'V03-GET',
    '7.3',
    'Get answers with the task',
    [
      completed,
      get(FIRST, { expect: [succeeds, is('task.id', FIRST), shaped('Task', 'body.result')] }),
    ],
    { ...V03_RPC, covers: ['protocol/tasks_get_method::tasks_get_valid'] },
  ),
  must(
    'V03-GET-HISTORY',
    '7.3',
    'historyLength bounds the history',
    [
      waiting,
      answer('tck-complete-task', { expect: [succeeds] }),
      get(FIRST, { historyLength: 1, expect: [succeeds, atMost('task.history', 1)] }),
      get(FIRST, { historyLength: 2, expect: [succeeds, atMost('task.history', 2)] }),
    ],
    {
      ...V03,
      covers: [
        'protocol/tasks_get_method::tasks_get_with_history_length',
        'protocol/state_transitions::task_history_length',
      ],
    },
  ),
  must(
    'V03-GET-MISSING',
    '7.3',
    'Get of an unknown task is -32001',
    [get(ABSENT_ID, { expect: [fails('TaskNotFound')] })],
    { ...V03, covers: ['protocol/tasks_get_method::tasks_get_nonexistent'] },
  ),
  must(
    'V03-CANCEL',
    '7.4',
    'Cancel answers with the canceled task',
    [
      waiting,
      {
        do: 'cancel',
        with: { id: FIRST },
        expect: [succeeds, is('task.id', FIRST), state('CANCELED')],
      },
    ],
    { ...V03, covers: ['protocol/tasks_cancel_method::tasks_cancel_valid'] },
  ),
  must(
    'V03-CANCEL-MISSING',
    '7.4',
    'Cancel of an unknown task is -32001',
    [{ do: 'cancel', with: { id: ABSENT_ID }, expect: [fails('TaskNotFound')] }],
    { ...V03, covers: ['protocol/tasks_cancel_method::tasks_cancel_nonexistent'] },
  ),
  must(
    'V03-METHODS',
    '3.5.6',
    'send, get and cancel have their names',
    [
      waiting,
      get(FIRST, { expect: [succeeds, is('task.id', FIRST)] }),
      { do: 'cancel', with: { id: FIRST }, expect: [succeeds, is('task.id', FIRST)] },
    ],
    {
      ...V03,
      covers: [
        `${methods}::core_method_mapping_compliance`,
        `${methods}::transport_specific_method_naming`,
        `${methods}::jsonrpc_specific_features`,
        `${transport}::required_method_availability`,
        `${transport}::transport_specific_features`,
        `${transport}::transport_compliance_validation`,
      ],
    },
  ),
  must(
    'V03-LIST-REST',
    '7.3.1',
    'Tasks can be listed over REST',
    [
      completed,
      {
        do: 'list',
        with: { contextId: '$first.task.contextId' },
        expect: [succeeds, is('result.tasks.0.id', FIRST)],
      },
    ],
    {
      versions: ['0.3'],
      bindings: ['rest'],
      covers: [`${methods}::tasks_list_with_existing_tasks`],
    },
  ),
  must(
    'V03-STREAM',
    '7.2',
    'A stream begins with the task and ends with final',
    [
      {
        do: 'stream',
        with: { message: user('tck-stream-001') },
        expect: [
          matches('headers.content-type', /^text\/event-stream/),
          firstIsTask,
          endsTerminal,
          ended,
          check('every frame has its shape, the last status is final', (got, context) => {
            for (const { data } of got.frames ?? []) {
              const one = { ...got, result: at(data, 'result') }
              const problem = shaped('StreamResponse', 'result').test(one, context)
              if (problem !== undefined) return problem
            }
            const last = at(got.frames?.at(-1)?.data, 'result')
            return at(last, 'kind') !== 'status-update' || at(last, 'final') === true
              ? undefined
              : show(last)
          }),
        ],
      },
    ],
    { ...V03_RPC, needs: ['streaming'] },
  ),
  must(
    'V03-STREAM-INTERRUPTED',
    '7.2',
    'A stream ends with final when the task needs input',
    [
      {
        do: 'stream',
        with: { message: user('tck-input-required') },
        expect: [ended, firstIsTask],
      },
    ],
    { ...V03_RPC, needs: ['streaming'] },
  ),
  must(
    'V03-RESUBSCRIBE',
    '7.9',
    'A resubscription begins with the task and ends with it',
    [
      waiting,
      subscribe('one'),
      { read: 'one', until: live, expect: [firstIsTask] },
      answer('tck-complete-task', { expect: [succeeds] }),
      { read: 'one', until: 'closed', expect: [endsTerminal] },
    ],
    { ...V03, needs: ['streaming'] },
  ),
  must('V03-TOGETHER', '3.4.1', 'Ten at once are all answered', together, {
    ...V03,
    needs: ['streaming'],
    covers: [
      `${equivalence}::concurrent_operation_equivalence`,
      `${equivalence}::performance_equivalence`,
    ],
  }),
]
