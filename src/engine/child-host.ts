/** What a parent's run can do with its children. A parent controls its own children, independent of its caller's rights. */

import { LullError } from '../core/errors.ts'
import type { ChildResult, LogRecord } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { Caller } from './caller.ts'
import { cancel, cancelChildren } from './cancel-task.ts'
import type { EngineContext } from './context.ts'
import type { Holds } from './holds.ts'
import { isUnreadable } from './ledger/unreadable-task.ts'
import { pause } from './pause-task.ts'
import { remind } from './reminders.ts'
import { resume } from './resume-task.ts'
import type { ChildHost } from './run/host.ts'
import { agentNamed, createChild } from './sending/create.ts'
import { inputOf } from './sending/task-input.ts'
import { waitFor } from './wait.ts'

export function createChildHost(contextOf: () => EngineContext, holds: Holds): ChildHost {
  const callerOf = ({ tenant, principal }: Task): Caller => ({ tenant, principal })
  const actorOf = ({ id }: Task): { kind: 'parent'; id: string } => ({ kind: 'parent', id })

  async function own(parent: Task, childId: string): Promise<Task> {
    const child = await contextOf().ledger.read(childId)
    if (child?.parentId !== parent.id) throw new LullError('TASK_NOT_FOUND', { taskId: childId })
    return child
  }

  return {
    check: (agent, parts) => inputOf(agentNamed(contextOf(), agent), { parts }),
    async create(parent, delegation) {
      const { childId } = delegation
      if ((await contextOf().ledger.read(childId)) !== undefined) return
      await createChild(contextOf(), parent, delegation)
      // A cancel or hold of the parent may have happened before the child existed.
      const now = await contextOf().ledger.read(parent.id)
      if (now?.state === 'canceled') await cancelChildren(contextOf(), now)
      if (now !== undefined) await holds.holdChild(now, childId)
    },
    get: own,
    watch: (_parent, childId, signal) => recordsOf(contextOf(), childId, signal),
    async result(childId) {
      const child = await contextOf().ledger.read(childId)
      return child !== undefined && isOver(child) ? resultOf(child) : undefined
    },
    async ended(childId, signal) {
      const timeoutMs = Number.POSITIVE_INFINITY
      const wait = { taskId: childId, wanted: isOver, timeoutMs, signal }
      return resultOf(await waitFor(contextOf(), wait))
    },
    async pause(parent, taskId, options) {
      await pause(contextOf(), callerOf(parent), { taskId, ...options }, actorOf(parent))
    },
    async resume(parent, taskId, options) {
      const how = { anyHandle: true }
      await resume(contextOf(), callerOf(parent), { taskId, ...options }, actorOf(parent), how)
    },
    async cancel(parent, taskId, reason) {
      await cancel(contextOf(), callerOf(parent), { taskId, reason }, actorOf(parent))
    },
    async remind(parent, taskId, reminder) {
      await remind(contextOf(), callerOf(parent), { taskId, reminder })
    },
  }
}

/** @throws LullError `TASK_UNREADABLE` when the child is found unreadable while it is watched */
async function* recordsOf(
  { subscriptions }: EngineContext,
  childId: string,
  signal: AbortSignal,
): AsyncGenerator<LogRecord, void> {
  const unreadable = new AbortController()
  const stop = subscriptions.watch(childId, (task) => {
    if (isUnreadable(task)) unreadable.abort(unreadableError(task))
  })
  try {
    const either = AbortSignal.any([signal, unreadable.signal])
    yield* subscriptions.open(childId, 0, false, either)
    unreadable.signal.throwIfAborted()
  } finally {
    stop()
  }
}

/** Nothing more is to be expected of it. */
function isOver(task: Task): boolean {
  return isTerminal(task.state) || isUnreadable(task)
}

/** @throws LullError `TASK_UNREADABLE` */
function resultOf(task: Task): ChildResult {
  const { id: taskId, state, statusMessage, artifacts } = task
  if (isUnreadable(task)) throw unreadableError(task)
  if (!isTerminal(state)) throw new Error(`task ${taskId} has not ended`)
  return {
    taskId,
    state,
    ...(statusMessage === undefined ? {} : { message: statusMessage }),
    artifacts,
  }
}

function unreadableError({ id: taskId, suspension }: Task): LullError<'TASK_UNREADABLE'> {
  return new LullError('TASK_UNREADABLE', { taskId, why: suspension?.summary ?? '' })
}
