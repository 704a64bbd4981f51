/** A2A v1.0 §3.1.1, §3.1.3–§3.1.5, §3.2.2: send, get, list, cancel, and when a send returns. */
import {
  check,
  every,
  fails,
  has,
  is,
  isNot,
  isTask,
  lacks,
  oneOf,
  open,
  shaped,
  state,
  succeeds,
  terminal,
} from '../checks.ts'
import type { Case, Step } from '../model.ts'
import { INTERRUPTED, TERMINAL } from '../shapes.ts'
import { ABSENT_ID, completed, FIRST, get, send, start, user, waiting } from '../steps.ts'
import { at, list, show } from '../values.ts'
import { must } from './define.ts'

const CONTEXT = '$first.task.contextId'

/** Three completed tasks in one context, oldest first. */
const three: readonly Step[] = [
  completed,
  send(user('tck-complete-task', { contextId: CONTEXT }), { as: 'second', assume: [isTask] }),
  send(user('tck-complete-task', { contextId: CONTEXT }), { as: 'third', assume: [isTask] }),
]

const idsOf = (result: unknown) => list(at(result, 'result.tasks')).map((task) => at(task, 'id'))

export const OPERATIONS: readonly Case[] = [
  must('CORE-SEND-001', '3.1.1', 'A send answers with a task or a message', [
    send(user('tck-complete-task'), {
      expect: [succeeds, shaped('SendMessageResponse', 'result')],
    }),
    send(user('tck-message-response'), {
      expect: [succeeds, shaped('SendMessageResponse', 'result')],
    }),
  ]),
  must('CORE-SEND-002', '3.1.1', 'A message to a task that has ended is refused', [
    completed,
    send(user('tck-complete-task', { taskId: FIRST }), { expect: [fails('UnsupportedOperation')] }),
  ]),
  must('CORE-SEND-003', '3.1.1', 'A media type the agent does not take is refused', [
    send(
      {
        ...user('tck-complete-task'),
        parts: [
          { raw: 'VGVzdA==', filename: 'x.bin', mediaType: 'application/x-unsupported-by-anyone' },
        ],
      },
      { expect: [fails('ContentTypeNotSupported')] },
    ),
  ]),
  must('CORE-GET-001', '3.1.3', 'Get answers with the current state of the task', [
    completed,
    get(FIRST, { expect: [succeeds, is('task.id', FIRST), state('COMPLETED')] }),
  ]),
  must('CORE-GET-002', '3.1.3', 'Get of an unknown task is TaskNotFound', [
    get(ABSENT_ID, { expect: [fails('TaskNotFound')] }),
  ]),
  must('CORE-LIST-001', '3.1.4', 'List shows the tasks of the caller, and only those asked for', [
    completed,
    send(user('tck-complete-task'), { as: 'other', assume: [isTask] }),
    {
      do: 'list',
      with: { contextId: CONTEXT },
      expect: [
        succeeds,
        is('result.tasks.0.id', FIRST),
        check('no task of another context', (got, { vars }) =>
          idsOf(got).includes(at(vars, 'other.task.id')) ? show(idsOf(got)) : undefined,
        ),
      ],
    },
  ]),
  must('CORE-LIST-002', '3.1.4', 'Pages follow a cursor, without gaps or repeats', [
    ...three,
    {
      do: 'list',
      with: { contextId: CONTEXT, pageSize: 2 },
      as: 'page',
      expect: [
        succeeds,
        isNot('result.nextPageToken', ''),
        check('two tasks', (got) => (idsOf(got).length === 2 ? undefined : show(idsOf(got)))),
      ],
    },
    {
      do: 'list',
      with: { contextId: CONTEXT, pageSize: 2, pageToken: '$page.result.nextPageToken' },
      expect: [
        succeeds,
        check('the third task, and no other', (got, { vars }) => {
          const all = new Set([...idsOf(at(vars, 'page')), ...idsOf(got)])
          return all.size === 3 && idsOf(got).length === 1 ? undefined : show([...all])
        }),
      ],
    },
  ]),
  must('CORE-LIST-003', '3.1.4', 'Tasks come newest first by status timestamp', [
    ...three,
    {
      do: 'list',
      with: { contextId: CONTEXT },
      expect: [
        check('timestamps descend', (got) => {
          const times = list(at(got, 'result.tasks')).map((task) =>
            Date.parse(String(at(task, 'status.timestamp'))),
          )
          const sorted = times.every((time, i) => i === 0 || time <= (times[i - 1] ?? 0))
          return times.length === 3 && sorted ? undefined : show(times)
        }),
      ],
    },
  ]),
  must('CORE-LIST-004', '3.1.4', 'nextPageToken is always there, and empty on the last page', [
    completed,
    {
      do: 'list',
      with: { contextId: CONTEXT },
      expect: [is('result.nextPageToken', ''), has('result.pageSize', 'result.totalSize')],
    },
  ]),
  must('CORE-LIST-005', '3.1.4', 'Artifacts are left out unless asked for', [
    send(user('tck-artifact-text'), { as: 'first', assume: [isTask, state('COMPLETED')] }),
    {
      do: 'list',
      with: { contextId: CONTEXT },
      expect: [
        is('result.tasks.0.id', FIRST),
        every('result.tasks', 'has no artifacts', (task) => at(task, 'artifacts') === undefined),
      ],
    },
    {
      do: 'list',
      with: { contextId: CONTEXT, includeArtifacts: true },
      expect: [has('result.tasks.0.artifacts.0.artifactId')],
    },
  ]),
  must('CORE-CANCEL-001', '3.1.5', 'Cancel answers with the canceled task', [
    waiting,
    {
      do: 'cancel',
      with: { id: FIRST },
      expect: [succeeds, is('task.id', FIRST), state('CANCELED')],
    },
    get(FIRST, { expect: [state('CANCELED')] }),
  ]),
  must('CORE-CANCEL-002', '3.1.5', 'Cancel of a task that has ended is TaskNotCancelable', [
    completed,
    { do: 'cancel', with: { id: FIRST }, expect: [fails('TaskNotCancelable')] },
  ]),
  must('CORE-CANCEL-003', '3.1.5', 'Cancel of an unknown task is TaskNotFound', [
    { do: 'cancel', with: { id: ABSENT_ID }, expect: [fails('TaskNotFound')] },
  ]),
  must('CORE-EXECUTION-MODE-001', '3.2.2', 'A send waits for an end or an interruption', [
    send(user('tck-stream-001'), {
      assume: [isTask],
      expect: [oneOf('task.status.state', [...TERMINAL, ...INTERRUPTED])],
    }),
    send(user('tck-input-required'), {
      assume: [isTask],
      expect: [oneOf('task.status.state', [...TERMINAL, ...INTERRUPTED])],
    }),
  ]),
  must('CORE-EXECUTION-MODE-002', '3.2.2', 'returnImmediately answers while the task runs', [
    { ...start(user('test-resubscribe-message-id')), expect: [succeeds, isTask, open] },
    get(FIRST, { assume: [open] }),
    { do: 'cancel', with: { id: FIRST }, expect: [succeeds, terminal] },
  ]),
  must(
    'CORE-SEND-001',
    '3.1.1',
    'A task answer carries what was made: text, file, link, data',
    (
      [
        ['tck-artifact-text', 'text', 'Generated text content'],
        ['tck-artifact-file-url', 'url', 'https://example.com/output.txt'],
        ['tck-artifact-data', 'data', { key: 'value', count: 42 }],
      ] as const
    ).map(([prefix, member, value]) =>
      send(user(prefix), {
        assume: [isTask, state('COMPLETED'), has('task.artifacts.0')],
        expect: [
          shaped('Task', 'task'),
          is(`task.artifacts.0.parts.0.${member}`, value),
          lacks('message'),
        ],
      }),
    ),
    { variant: 'artifacts' },
  ),
]
