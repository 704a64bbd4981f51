/** Cancels a task for a caller. */
import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import { isTerminal } from '../../core/states.ts'
import type { Actor } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { JsonObject } from '../../core/values/json.ts'
import { actorOf, type Caller } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import type { FieldsOf } from '../input/exhaustive.ts'
import { check } from '../input/parse.ts'
import { id, jsonObject, reason } from '../input/primitives.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { childrenOf } from './child-of.ts'
import type { Verb } from './verb.ts'

export interface CancelRequest {
  readonly taskId: string
  readonly reason?: string | undefined
  readonly metadata?: JsonObject | undefined
}

export const cancelVerb: Verb<'cancel'> = {
  input: z.strictObject({
    taskId: id,
    reason: reason.optional(),
    metadata: jsonObject.optional(),
  } satisfies FieldsOf<CancelRequest>),
  audited: 'task.cancel',
  limited: false,
  scope: 'tasks:write',
  act: 'control',
  method:
    ({ context }) =>
    (caller, request) =>
      cancel(context, caller, request),
}

/** Cancels the task and its sub-tasks. */
export async function cancel(
  context: EngineContext,
  caller: Caller,
  request: CancelRequest,
  actor: Actor = actorOf(caller),
): Promise<Task> {
  const { taskId, reason } = check(cancelVerb.input, request)
  await taskFor(context, caller, taskId, cancelVerb.act)
  const because = reason === undefined ? {} : { reason }
  const { task } = await context.ledger.commit(taskId, { type: 'cancel', actor, ...because })
  if (task.children.length > 0) {
    await context.followUps.add(task, (parent) => cancelChildren(context, parent))
  }
  return task
}

export async function cancelChildren(context: EngineContext, parent: Task): Promise<void> {
  const actor: Actor = { kind: 'parent', id: parent.id }
  const children = await childrenOf(context, parent)
  await Promise.all(
    children.map(async (child) => {
      const { id: taskId } = child
      if (isTerminal(child.state) || isUnreadable(child)) return
      const reason = 'its parent was canceled'
      try {
        const { task } = await context.ledger.commit(taskId, { type: 'cancel', actor, reason })
        await cancelChildren(context, task)
      } catch (error) {
        if (!(error instanceof LullError && error.code === 'TASK_TERMINAL')) throw error
      }
    }),
  )
}
