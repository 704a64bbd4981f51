/**
 * Builds the task that is shown when a log cannot be folded: paused by policy, with the reason
 * `unreadable`. It is derived from the row alone and never written, so a version that can read the
 * log finds the task unchanged.
 */

import { createTask } from '../../core/evolve/own-task.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import { instantOr0 } from '../../core/values/instant.ts'
import type { TaskRow } from '../../ports/store/tasks.ts'

export const UNREADABLE = 'unreadable'

export function unreadableTask(row: TaskRow, why: string): Task {
  const { id, tenant, principal, agent, contextId, parentId, createdAt, statusAt } = row
  const shell = createTask({
    type: 'submitted',
    seq: 0,
    at: createdAt,
    taskId: id,
    tenant,
    principal,
    agent,
    contextId,
    ...(parentId === undefined ? {} : { parentId }),
    message: { messageId: id, role: 'ROLE_USER', parts: [] },
    eventsAfter: 0,
  })
  return {
    ...shell,
    history: [],
    queued: [],
    state: 'paused-by-client',
    statusAt,
    updatedAt: statusAt,
    suspension: {
      handle: `suspend-${UNREADABLE}-${id}`,
      epoch: 0,
      initiator: 'client',
      actor: { kind: 'policy', id: UNREADABLE },
      mode: 'interrupt_immediate',
      reason: UNREADABLE,
      summary: `The log of this task cannot be read: ${why}. Nothing can be written to it.`,
      requestedAt: statusAt,
      pausedAt: statusAt,
      pausedFrom: row.state,
      eventsAfter: 0,
    },
  }
}

/**
 * Renders one task of a list. A task that cannot be rendered is shown as unreadable, so that the
 * rest of the list is still shown. Older versions imported logs with any content.
 */
export function renderOne<T>(task: Task, render: (task: Task) => T): T {
  try {
    return render(task)
  } catch (error) {
    return render(withoutContent(task, describeError(error).message))
  }
}

function withoutContent(task: Task, why: string): Task {
  const { id, tenant, principal, agent, contextId, parentId, state, createdAt, statusAt } = task
  const row = { id, tenant, principal, agent, contextId, state, held: false, waits: [] }
  const instants = { createdAt: instantOr0(createdAt), statusAt: instantOr0(statusAt) }
  return unreadableTask(
    { ...row, ...instants, ...(parentId === undefined ? {} : { parentId }) },
    why,
  )
}

export function isUnreadable({ version, suspension }: Task): boolean {
  return version === 0 && suspension?.reason === UNREADABLE
}
