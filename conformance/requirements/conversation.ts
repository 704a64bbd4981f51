/** A2A v1.0 §3.2.4 and §3.4: contexts, tasks across turns, history. */
import {
  atMost,
  check,
  fails,
  has,
  is,
  isNot,
  isTask,
  lacks,
  refused,
  succeeds,
  text,
} from '../checks.ts'
import type { Case, Step } from '../model.ts'
import { ABSENT_ID, answer, completed, FIRST, get, send, user, waiting } from '../steps.ts'
import { at, equal, list, show } from '../values.ts'
import { may, must, should } from './define.ts'

const OWN_CONTEXT = { contextId: 'ctx-of-the-client-{new.id}' }

/** Either the client's context id is kept, or the request is refused; never silently replaced. */
const keptOrRefused = check('the context id is kept, or refused', (got) => {
  if (got.error !== undefined) return undefined
  const found = at(got, 'task.contextId') ?? at(got, 'message.contextId')
  return found === at(got, 'request.message.contextId') ? undefined : `answered with ${show(found)}`
})

/** A task of two turns whose texts are known. */
const twoTurns: readonly Step[] = [
  send(
    { ...user('tck-input-required'), parts: [{ text: 'tck-input-required the first words' }] },
    { as: 'first', assume: [isTask] },
  ),
  send(
    {
      ...user('tck-complete-task', { taskId: FIRST }),
      parts: [{ text: 'tck-complete-task the second words' }],
    },
    { as: 'second', assume: [succeeds] },
  ),
]

function positionOf(got: unknown, message: unknown): number {
  const id = at(message, 'messageId')
  return list(at(got, 'task.history')).findIndex((item) => at(item, 'messageId') === id)
}

export const CONVERSATION: readonly Case[] = [
  may('CORE-MULTI-001', '3.4.1', 'The agent makes a context when none is given', [
    send(user('tck-complete-task'), { expect: [succeeds, text('task.contextId')] }),
  ]),
  must('CORE-MULTI-001a', '3.4.1', 'A context the agent made stands in the answer', [
    send(user('tck-complete-task'), {
      as: 'first',
      assume: [isTask],
      expect: [text('task.contextId')],
    }),
    get(FIRST, { expect: [is('task.contextId', '$first.task.contextId')] }),
  ]),
  may('CORE-MULTI-002', '3.4.1', "The client's context id is accepted", [
    send(user('tck-complete-task', OWN_CONTEXT), {
      expect: [succeeds, keptOrRefused],
    }),
  ]),
  must('CORE-MULTI-002a', '3.4.1', "The client's context id is kept or refused, not replaced", [
    send(user('tck-complete-task', OWN_CONTEXT), { expect: [keptOrRefused] }),
    send(user('tck-message-response', OWN_CONTEXT), { expect: [keptOrRefused] }),
  ]),
  must('CORE-MULTI-003', '3.4.2', 'Every new task has an id of its own', [
    completed,
    send(user('tck-complete-task'), { expect: [text('task.id'), isNot('task.id', FIRST)] }),
  ]),
  must('CORE-MULTI-004', '3.4.2', 'A message to an unknown task is TaskNotFound', [
    send(user('tck-complete-task', { taskId: ABSENT_ID }), { expect: [fails('TaskNotFound')] }),
  ]),
  must('CORE-MULTI-005', '3.4.3', 'The context is inferred from the task', [
    waiting,
    answer('tck-complete-task', {
      expect: [succeeds, is('task.id', FIRST), is('task.contextId', '$first.task.contextId')],
    }),
  ]),
  must('CORE-MULTI-006', '3.4.3', 'A context that is not the task’s is refused', [
    waiting,
    send(user('tck-complete-task', { taskId: FIRST, contextId: 'ctx-of-something-else' }), {
      expect: [refused],
    }),
    get(FIRST, { expect: [is('task.status.state', '$first.task.status.state')] }),
  ]),
  should('CORE-HIST-001', '3.2.4', 'Get with historyLength 0 leaves the history out', [
    completed,
    get(FIRST, { historyLength: 0, expect: [succeeds, lacks('task.history')] }),
  ]),
  must('CORE-HIST-002', '3.2.4', 'Never more messages than historyLength', [
    ...twoTurns,
    get(FIRST, { historyLength: 1, expect: [succeeds, atMost('task.history', 1)] }),
    get(FIRST, { historyLength: 2, expect: [succeeds, atMost('task.history', 2)] }),
    {
      do: 'list',
      with: { contextId: '$first.task.contextId', historyLength: 1 },
      expect: [succeeds, atMost('result.tasks.0.history', 1)],
    },
  ]),
  should('CORE-HIST-003', '3.2.4', 'Send with historyLength 0 leaves the history out', [
    send(
      user('tck-complete-task'),
      { assume: [isTask], expect: [lacks('task.history')] },
      { historyLength: 0 },
    ),
  ]),
  may('CORE-HIST-004', '3.2.4', 'Messages are kept in the history', [
    ...twoTurns,
    get(FIRST, { expect: [has('task.history.0.messageId')] }),
  ]),
  should('CORE-HIST-005', '3.2.4', 'History is in the order of the exchange', [
    ...twoTurns,
    get(FIRST, {
      assume: [has('task.history.0')],
      expect: [
        check('the first message stands before the second', (got, { vars }) => {
          const first = positionOf(got, at(vars, 'first.request.message'))
          const second = positionOf(got, at(vars, 'second.request.message'))
          return first >= 0 && first < second ? undefined : `positions ${first} and ${second}`
        }),
      ],
    }),
  ]),
  should('CORE-HIST-006', '3.2.4', 'History says what was said', [
    ...twoTurns,
    get(FIRST, {
      assume: [has('task.history.0')],
      expect: ['first', 'second'].map((name) =>
        check(`the ${name} message is kept word for word`, (got, { vars }) => {
          const sent = at(vars, `${name}.request.message`)
          const kept = at(got, `task.history.${positionOf(got, sent)}.parts`)
          return equal(kept, at(sent, 'parts')) ? undefined : show(kept)
        }),
      ),
    }),
  ]),
]
