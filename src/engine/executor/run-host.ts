/** What the engine offers to the runs of tasks. */

import { LullError } from '../../core/errors.ts'
import type { ChildResult, LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Caller } from '../caller.ts'
import type { HoldBarrier } from '../cluster/hold-barrier.ts'
import type { Membership } from '../cluster/membership.ts'
import type { EngineContext } from '../context.ts'
import type { Holds } from '../holds/holds.ts'
import { logOf } from '../ledger/log-of.ts'
import { isUnreadable } from '../ledger/unreadable-task.ts'
import { cancel, cancelChildren } from '../requests/cancel-task.ts'
import { childOf, readableChildren } from '../requests/child-of.ts'
import { pause } from '../requests/pause-task.ts'
import { remind } from '../requests/remind/reminders.ts'
import { resume } from '../requests/resume-task.ts'
import { agentNamed, childDepth, createChild } from '../requests/send/create.ts'
import { inputOf } from '../requests/send/task-input.ts'
import { waitFor } from '../requests/wait.ts'
import type { ChildHost, RunHost } from '../run/host.ts'
import type { LiveTexts } from '../streams/live-texts.ts'
import { fireAt } from '../wakes/fire-at.ts'
import type { Watchdog } from './health.ts'

export interface RunHostDeps {
  readonly live: LiveTexts
  readonly holds: Holds
  readonly watchdog: Watchdog
  readonly lease: Pick<Membership, 'holdsLease' | 'whenLeased'>
  /** Present in a shared store. */
  readonly barrier: Pick<HoldBarrier, 'isReached' | 'whenReached'> | undefined
}

/** @param context its parts are read only after the engine is assembled */
export function createRunHost(
  shared: Pick<EngineContext, 'clock' | 'ids' | 'log' | 'tracing' | 'options' | 'store'>,
  context: EngineContext,
  { live, holds, watchdog, lease, barrier }: RunHostDeps,
): RunHost {
  const { clock, ids, log, tracing, options, store } = shared
  /**
   * C3 and C8 of `cluster/membership.ts`: a step may start only with a valid lease and all known
   * holds read.
   */
  const mayExecute = (): boolean => lease.holdsLease() && (barrier?.isReached() ?? true)

  async function whenMayExecute(): Promise<void> {
    while (!mayExecute()) {
      await lease.whenLeased()
      await barrier?.whenReached()
    }
  }

  return {
    clock,
    ids,
    log,
    tracing,
    live,
    limits: options,
    commit: (taskId, command) => context.ledger.commit(taskId, command),
    records: (task) => logOf(store, task),
    fireAt: (conditions) => fireAt(conditions, clock.now()),
    async eventsNow(tenant) {
      const { events } = context
      await events.refresh(tenant)
      return events.lastPos(tenant)
    },
    lastEventPos: (tenant) => context.events.lastPos(tenant),
    releaseSlot: (taskId) => context.runs.releaseSlot(taskId),
    reacquireSlot: (taskId) => context.runs.reacquireSlot(taskId),
    blocked: watchdog.report,
    running: (taskId) => store.cluster?.loopGuard?.running(taskId),
    mayExecute: () => (mayExecute() ? undefined : whenMayExecute()),
    checkBudgets: (task) => context.budgetChecks.check(task),
    children: createChildHost(context, holds),
  }
}

/**
 * What the run of a parent can do with its children. A parent controls its own children,
 * independent of its caller's rights.
 */
function createChildHost(context: EngineContext, holds: Holds): ChildHost {
  const callerOf = ({ tenant, principal }: Task): Caller => ({ tenant, principal })
  const actorOf = ({ id }: Task): { kind: 'parent'; id: string } => ({ kind: 'parent', id })

  /** @throws LullError `TASK_NOT_FOUND` when the parent has no such child to act on */
  async function own(parent: Task, childId: string): Promise<void> {
    if ((await childOf(context, parent, childId)) === undefined) throw notFound(childId)
  }

  /** The child, if the parent may read it. */
  async function known(parent: Task, childId: string): Promise<Task | undefined> {
    const isReadable = await readableChildren(context, parent)
    const child = await context.ledger.read(childId, parent.tenant)
    return child !== undefined && isReadable(child) ? child : undefined
  }

  /** The child, once it is in this store and fulfils `wanted`. */
  async function arriving(
    parent: Task,
    childId: string,
    wanted: (child: Task) => boolean,
    signal: AbortSignal,
  ): Promise<Task> {
    const isReadable = await readableChildren(context, parent)
    return waitFor(context, {
      taskId: childId,
      wanted: (child) => isReadable(child) && wanted(child),
      timeoutMs: Number.POSITIVE_INFINITY,
      signal,
      read: () => context.ledger.read(childId, parent.tenant),
    })
  }

  return {
    admit(parent, count) {
      const { taskDepth, childrenPerTask } = context.options
      const problem = (limit: string, value: number): Error =>
        new LullError('LIMIT_EXCEEDED', { limit, value, instead: 'do the work in this task' })
      if (childDepth(parent) > taskDepth) throw problem('taskDepth', taskDepth)
      if (count >= childrenPerTask) throw problem('childrenPerTask', childrenPerTask)
    },
    check: (agent, parts) => inputOf(agentNamed(context, agent), { parts }),
    async create(parent, delegation) {
      const { childId } = delegation
      if ((await context.ledger.read(childId, parent.tenant)) !== undefined) return
      await createChild(context, parent, delegation)
      // The parent may have been cancelled or held before the child existed.
      const now = await context.ledger.read(parent.id)
      if (now?.state === 'canceled') await cancelChildren(context, now)
      if (now !== undefined) await holds.holdChild(now, childId)
    },
    async get(parent, childId) {
      const child = await known(parent, childId)
      if (child === undefined) throw notFound(childId)
      return child
    },
    async arrived(parent, childId, signal) {
      await arriving(parent, childId, () => true, signal)
    },
    async *watch(parent, childId, signal) {
      if ((await known(parent, childId)) === undefined) throw notFound(childId)
      yield* recordsOf(context, childId, signal)
    },
    async result(parent, childId) {
      const child = await known(parent, childId)
      return child !== undefined && isOver(child) ? resultOf(child) : undefined
    },
    ended: async (parent, childId, signal) =>
      resultOf(await arriving(parent, childId, isOver, signal)),
    async pause(parent, taskId, options) {
      await own(parent, taskId)
      await pause(context, callerOf(parent), { taskId, ...options }, actorOf(parent))
    },
    async resume(parent, taskId, options) {
      const how = { anyHandle: true }
      await own(parent, taskId)
      await resume(context, callerOf(parent), { taskId, ...options }, actorOf(parent), how)
    },
    async cancel(parent, taskId, reason) {
      await own(parent, taskId)
      await cancel(context, callerOf(parent), { taskId, reason }, actorOf(parent))
    },
    async remind(parent, taskId, reminder) {
      await own(parent, taskId)
      await remind(context, callerOf(parent), { taskId, reminder })
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

/** Whether the child will write no more records. */
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

function notFound(taskId: string): LullError<'TASK_NOT_FOUND'> {
  return new LullError('TASK_NOT_FOUND', { taskId })
}

function unreadableError({ id: taskId, suspension }: Task): LullError<'TASK_UNREADABLE'> {
  return new LullError('TASK_UNREADABLE', { taskId, why: suspension?.summary ?? '' })
}
