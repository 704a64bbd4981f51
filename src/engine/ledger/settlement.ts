/** Processes the store's answer to a commit. */

import { LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Log } from '../../ports/log.ts'
import type { CommitResult } from '../../ports/store/tasks.ts'
import { answerAll, answerClaimed, rejectAll } from './answers.ts'
import type { FlusherDeps } from './flusher.ts'
import type { Plan, Waiting } from './plan.ts'
import type { StoreTrouble } from './store-trouble.ts'
import type { TaskCache } from './task-cache.ts'
import { isSettled } from './task-entry.ts'
import type { TaskPlaces } from './task-places.ts'
import type { TaskQueues } from './task-queues.ts'

export interface SettlementDeps {
  readonly cache: TaskCache
  readonly trouble: StoreTrouble
  readonly queues: () => TaskQueues
  readonly places: Pick<TaskPlaces, 'learn'>
  readonly log: Log
  readonly published: (task: Task, records: readonly LogRecord[], before: Task | undefined) => void
  readonly learned: SettlementDeps['published']
  /** Reads the holds, and the position of the tenant's newest event, again. */
  readonly refresh: (tenant: string) => Promise<unknown>
}

type Result<S extends CommitResult['status']> = CommitResult & { readonly status: S }
type Outcome<S extends CommitResult['status']> = (plan: Plan, result: Result<S>) => void

export function createSettlement(deps: SettlementDeps): Pick<FlusherDeps, 'settle' | 'fail'> {
  const { cache, trouble, queues, places, refresh } = deps
  const publish = createPublish(deps.log)

  const outcomes: { readonly [S in CommitResult['status']]: Outcome<S> } = {
    written,
    /**
     * Another process wrote first. The same commands are decided again on the new version, in the
     * same order.
     */
    conflict({ entry, waiting }, { version }) {
      entry.storedVersion = version
      entry.queue.unshift(...waiting)
      queues().catchUp(entry)
    },
    claimed(plan, { claim }) {
      answerClaimed(plan, claim)
      queues().reread(plan.entry)
    },
    /** The decision is out of date. After the read, the commands are built and decided again. */
    outdated(plan) {
      refresh((plan.task as Task).tenant).then(
        () => {
          plan.entry.queue.unshift(...plan.waiting)
          queues().reread(plan.entry)
        },
        (error: unknown) => fail(plan, error),
      )
    },
    failed: refused,
  }

  function settle(plan: Plan, result: CommitResult | undefined): void {
    if (result === undefined) {
      fail(plan, new Error('the store did not answer for this commit'))
      return
    }
    trouble.worked()
    release(plan)
    const outcome = outcomes[result.status] as Outcome<CommitResult['status']>
    outcome(plan, result)
  }

  function written(plan: Plan): void {
    const { entry, records, copied } = plan
    const task = plan.task as Task
    const before = entry.task
    entry.task = task
    entry.row = plan.row
    if (plan.snapshot) entry.snapshotSeq = task.version
    if (before === undefined) places.learn(task.id, task.tenant)
    cache.grow(entry, plan.bytes)
    publish(copied ? deps.learned : deps.published, task, records, before)
    answerAll(plan)
    queues().proceed(entry)
    if (isTerminal(task.state) && isSettled(entry)) cache.delete(entry.id)
    else cache.trim()
  }

  /**
   * The content cannot be stored. The command with that content fails. If there are several
   * candidates, each is written alone (L6).
   */
  function refused({ entry, waiting }: Plan, { error }: Result<'failed'>): void {
    const culprit = culpritOf(waiting)
    const others = waiting.filter((one) => one !== culprit)
    if (culprit === undefined) for (const one of others) one.alone = true
    entry.queue.unshift(...others)
    queues().reread(entry)
    culprit?.reject(refusal(entry.id, error, deps.log))
  }

  /**
   * The store cannot write. Commands that came later fail too, because otherwise they would
   * overtake commands that callers retry.
   */
  function fail(plan: Plan, error: unknown): void {
    const { entry, waiting } = plan
    trouble.failed(error)
    release(plan)
    const lost: readonly Waiting[] = [...waiting, ...entry.queue.splice(0)]
    queues().reread(entry)
    rejectAll(lost, error)
  }

  return { settle, fail }
}

/** A listener that throws does not fail the commit, because the records are durable. */
function createPublish(log: Log) {
  return (listener: SettlementDeps['published'], ...write: Parameters<typeof listener>): void => {
    const [task] = write
    try {
      listener(...write)
    } catch (error) {
      log('error', 'a listener failed', { taskId: task.id, error: describeError(error) })
    }
  }
}

/** The command that has records, if there is exactly one. */
function culpritOf(waiting: readonly Waiting[]): Waiting | undefined {
  const writers = waiting.filter(({ from, to }) => to > from)
  return writers.length === 1 ? writers[0] : undefined
}

function release({ entry, whenSettled }: Plan): void {
  entry.plan = undefined
  for (const done of whenSettled) done()
}

function refusal(taskId: string, cause: unknown, log: Log): LullError {
  const why = describeError(cause).message
  const error = new LullError('RECORD_REFUSED', { taskId, why }, { cause })
  log('error', 'a write was refused: its content cannot be stored', { taskId, error })
  return error
}
