/** Short ways to write common steps. The agent under test chooses its behaviour by the message id's prefix (kit 1.0-dev). */
import { isTask, open, state, succeeds } from './checks.ts'
import type { Args, CallStep, Json, OpenStep } from './model.ts'

/** The prefix stands in the id and in the text: kits differ in which of the two they read. */
export function user(prefix: string, more: Args = {}): Args {
  return {
    messageId: `${prefix}-{new.id}`,
    role: 'ROLE_USER',
    parts: [{ text: `${prefix} please` }],
    ...more,
  }
}

/** A message for an agent that follows scripts (the Lull script agent); others see the prefix. */
export function script(ops: readonly Json[], more: Args = {}, prefix = 'script'): Args {
  return {
    messageId: `${prefix}-{new.id}`,
    role: 'ROLE_USER',
    parts: [{ data: { script: ops } }],
    ...more,
  }
}

type More = Omit<CallStep, 'do' | 'with'>

export function send(message: Args, more: More = {}, configuration?: Args): CallStep {
  return { do: 'send', with: { message, ...(configuration ? { configuration } : {}) }, ...more }
}

/** Sends and goes on without waiting for the end. */
export function start(message: Args, as = 'first'): CallStep {
  return send(message, { as, expect: [succeeds, isTask] }, { returnImmediately: true })
}

/** A task that has completed. */
export const completed: CallStep = send(user('tck-complete-task'), {
  as: 'first',
  expect: [succeeds],
  assume: [isTask, state('COMPLETED')],
})

/** A task that is waiting for input: the kit's way to have one that has not ended. */
export const waiting: CallStep = send(user('tck-input-required'), {
  as: 'first',
  expect: [succeeds],
  assume: [isTask, open],
})

export const FIRST = '$first.task.id'

export function get(id: Json = FIRST, more: More & { historyLength?: number } = {}): CallStep {
  const { historyLength, ...rest } = more
  return {
    do: 'get',
    with: { id, ...(historyLength === undefined ? {} : { historyLength }) },
    ...rest,
  }
}

export function answer(prefix: string, more: More = {}): CallStep {
  return send(user(prefix, { taskId: FIRST }), more)
}

export function subscribe(as: string, id: Json = FIRST): OpenStep {
  return { open: 'subscribe', with: { id }, as }
}

export const ABSENT_ID = 'a-task-that-was-never-created'
