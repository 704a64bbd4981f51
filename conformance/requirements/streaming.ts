/** A2A v1.0 §3.1.2, §3.1.6, §3.5.2: streams and subscriptions. */
import {
  check,
  ended,
  endsTerminal,
  fails,
  firstIsTask,
  frameStates,
  has,
  is,
  isTask,
  live,
  open,
  sees,
  shaped,
  state,
  succeeds,
} from '../checks.ts'
import type { Case, Outcome, Step } from '../model.ts'
import { ABSENT_ID, answer, completed, FIRST, send, subscribe, user, waiting } from '../steps.ts'
import { at, equal, show } from '../values.ts'
import { must, STREAMING } from './define.ts'

const streamed = (prefix: string, expect: Parameters<typeof send>[1]): Step => ({
  do: 'stream',
  with: { message: user(prefix) },
  ...expect,
})

/** Two subscribers on one task that waits; both have their first frame. */
const twoReaders: readonly Step[] = [
  waiting,
  subscribe('one'),
  subscribe('two'),
  { read: 'one', until: live },
  { read: 'two', until: live },
]

/** Phase by state; a stream that goes back to an earlier one was reordered. */
const PHASE: Readonly<Record<string, number>> = {
  TASK_STATE_SUBMITTED: 0,
  TASK_STATE_WORKING: 1,
  TASK_STATE_COMPLETED: 2,
  TASK_STATE_FAILED: 2,
  TASK_STATE_CANCELED: 2,
  TASK_STATE_REJECTED: 2,
}

const updates = (got: unknown): readonly unknown[] =>
  ((got as Outcome).frames ?? []).slice(1).map((frame) => frame.event)

export const STREAMS: readonly Case[] = [
  must(
    'CORE-STREAM-001',
    '3.1.2',
    'A streaming send opens an event stream',
    [streamed('tck-stream-001', { expect: [succeeds, live, ended] })],
    STREAMING,
  ),
  must(
    'CORE-STREAM-002',
    '3.1.2',
    'A message answer is the only frame',
    [
      streamed('tck-message-response', {
        expect: [
          ended,
          check('one frame, a message', (got) =>
            got.frames?.length === 1 && at(got.frames[0]?.event, 'message') !== undefined
              ? undefined
              : show(got.frames),
          ),
        ],
      }),
    ],
    STREAMING,
  ),
  must(
    'CORE-STREAM-003',
    '3.1.2',
    'A task stream begins with the task and closes at its end',
    [streamed('tck-stream-003', { expect: [firstIsTask, endsTerminal, ended] })],
    STREAMING,
  ),
  must(
    'CORE-STREAM-003',
    '3.1.2',
    'Chunks of an artifact arrive in order, the last one marked',
    [
      streamed('tck-stream-artifact-chunked', {
        assume: [sees('COMPLETED')],
        expect: [
          check('the second chunk appends and is the last', (got) => {
            const all = updates(got).filter((event) => at(event, 'artifactUpdate'))
            const idOf = (event: unknown): unknown =>
              at(event, 'artifactUpdate.artifact.artifactId')
            // A server may show the result of the task as another artifact.
            const chunks = all.filter((event) => idOf(event) === idOf(all[0]))
            const last = at(chunks.at(-1), 'artifactUpdate')
            return chunks.length === 2 &&
              at(last, 'append') === true &&
              at(last, 'lastChunk') === true
              ? undefined
              : show(chunks)
          }),
        ],
      }),
    ],
    { ...STREAMING, variant: 'chunks' },
  ),
  must(
    'STREAM-ORDER-001',
    '3.5.2',
    'Events come in the order they happened',
    [
      streamed('tck-stream-ordering-001', {
        expect: [
          endsTerminal,
          check('states never go back', (got) => {
            const phases = frameStates(got).map((name) => PHASE[name] ?? 1)
            const back = phases.some((phase, i) => i > 0 && phase < (phases[i - 1] ?? 0))
            return back ? show(frameStates(got)) : undefined
          }),
        ],
      }),
    ],
    STREAMING,
  ),
  must(
    'STREAM-ORDER-002',
    '3.5.2',
    'Every open stream gets the events',
    [
      ...twoReaders,
      answer('tck-complete-task', { expect: [succeeds] }),
      { read: 'one', until: 'closed', expect: [sees('COMPLETED')] },
      { read: 'two', until: 'closed', expect: [sees('COMPLETED')] },
    ],
    STREAMING,
  ),
  must(
    'STREAM-ORDER-003',
    '3.5.2',
    'Every open stream gets the same events in the same order',
    [
      ...twoReaders,
      answer('tck-stream-001', { expect: [succeeds] }),
      { read: 'one', until: 'closed', as: 'heardByOne' },
      {
        read: 'two',
        until: 'closed',
        expect: [
          check('the same updates', (got, { vars }) =>
            equal(updates(got), updates(vars['heardByOne']))
              ? undefined
              : `${show(updates(got))} against ${show(updates(vars['heardByOne']))}`,
          ),
        ],
      },
    ],
    STREAMING,
  ),
  must(
    'STREAM-ORDER-004',
    '3.5.2',
    'Closing one stream leaves the others',
    [
      ...twoReaders,
      { close: 'one' },
      answer('tck-complete-task', { expect: [succeeds] }),
      { read: 'two', until: 'closed', expect: [sees('COMPLETED')] },
    ],
    STREAMING,
  ),
  must(
    'STREAM-SUB-001',
    '3.1.6',
    'A subscription begins with the task as it is',
    [
      waiting,
      subscribe('one'),
      {
        read: 'one',
        until: live,
        expect: [
          firstIsTask,
          is('frames.0.event.task.id', FIRST),
          is('frames.0.event.task.status.state', '$first.task.status.state'),
        ],
      },
    ],
    STREAMING,
  ),
  must(
    'STREAM-SUB-002',
    '3.1.6',
    'A subscription closes when the task ends',
    [
      waiting,
      subscribe('one'),
      { read: 'one', until: live },
      answer('tck-complete-task', { expect: [succeeds] }),
      { read: 'one', until: 'closed', expect: [endsTerminal] },
    ],
    STREAMING,
  ),
  must(
    'STREAM-SUB-003',
    '3.1.6',
    'A subscription to a task that has ended is refused',
    [completed, { do: 'subscribe', with: { id: FIRST }, expect: [fails('UnsupportedOperation')] }],
    STREAMING,
  ),
  must(
    'STREAM-SUB-004',
    '3.1.6',
    'A subscription to an unknown task is TaskNotFound',
    [{ do: 'subscribe', with: { id: ABSENT_ID }, expect: [fails('TaskNotFound')] }],
    STREAMING,
  ),
  must(
    'STREAM-SUB-002',
    '3.1.6',
    'A subscription to a running task closes when it is canceled',
    [
      send(
        user('test-resubscribe-message-id'),
        { as: 'first', assume: [isTask, open] },
        { returnImmediately: true },
      ),
      subscribe('one'),
      { read: 'one', until: live, expect: [firstIsTask] },
      { do: 'cancel', with: { id: FIRST }, expect: [succeeds, state('CANCELED')] },
      { read: 'one', until: 'closed', expect: [sees('CANCELED')] },
    ],
    { ...STREAMING, variant: 'canceled' },
  ),
  must(
    'CORE-STREAM-003',
    '3.1.2',
    'Every frame is a StreamResponse of the same task',
    [
      streamed('tck-stream-artifact-text', {
        assume: [has('frames.0.event.task.id')],
        expect: [
          check('frames are well-formed and of one task', (got, context) => {
            const id = at(got.frames?.[0]?.event, 'task.id')
            for (const frame of got.frames ?? []) {
              const one = { ...got, result: frame.event }
              const problem = shaped('StreamResponse', 'result').test(one, context)
              if (problem !== undefined) return problem
              const of = at(frame.event, 'statusUpdate') ?? at(frame.event, 'artifactUpdate')
              if (of !== undefined && at(of, 'taskId') !== id) return show(of)
            }
            return undefined
          }),
        ],
      }),
    ],
    { ...STREAMING, variant: 'frames' },
  ),
]
