/**
 * Commands that may start a run. A slot is reserved, and the command is written with the token of that slot. The run
 * begins if the task has the token after the write. Otherwise the slot is freed.
 *
 *   reserve ──▶ commit ──▶ token written? ──yes──▶ the run in memory continues, or a run is built
 *                                   └──no──▶ the slot is freed
 */

import type { Command } from '../../core/commands.ts'
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { CommitExtras, Committed, HoldsForNew, Ledger } from '../ledger/ledger.ts'
import type { Builder } from './building.ts'
import type { Presences } from './presence.ts'
import type { Slots } from './slots.ts'

export interface Launching {
  /** Commits a command that may start a run, with a slot for the run if one is free. */
  commit(
    taskId: string,
    of: SlotOwner,
    command: (task: Task | undefined, run: RunToken | undefined) => Command,
    extras?: CommitExtras,
  ): Promise<Committed>
  /** Starts a task that waited for a slot. Undefined if no slot is free. */
  start(
    taskId: string,
    of: SlotOwner,
    command: (run: RunToken) => Command,
  ): Promise<Committed | undefined>
  /** Creates a task. With `ahead`, its code starts before the task is durable. */
  create(creation: Creation): Promise<Committed>
  /** Continues a task that called `continueAs` with a new run. */
  continueAs(task: Task): void
}

/** The agent and tenant for which a slot is taken. */
export type SlotOwner = Pick<Task, 'agent' | 'tenant'>

export interface Creation extends SlotOwner {
  readonly taskId: string
  /** False if the first commit already ends the task, which then needs no slot. */
  readonly runs: boolean
  readonly ahead: boolean
  readonly command: (run: RunToken | undefined, holdsFor: HoldsForNew) => Command
  readonly extras: CommitExtras
}

export interface LaunchingDeps {
  readonly ledger: Pick<Ledger, 'commit' | 'create' | 'peek'>
  readonly ids: IdSource
  readonly slots: Slots
  readonly presences: Presences
  readonly builder: Builder
  readonly worker: () => string
  /** Whether this process may start work. */
  readonly holdsLease: () => boolean
  /** Whether the agent is registered. */
  readonly knows: (agent: string) => boolean
  /** Whether older tasks of the agent are queued for a slot. */
  readonly queued: (agent: string) => boolean
  readonly draining: () => boolean
}

export function createLaunching(deps: LaunchingDeps): Launching {
  const { ledger, ids, slots, presences, builder, worker, holdsLease, knows, queued } = deps
  const { draining } = deps

  /** Takes a slot for a task that just became able to run. Undefined while older tasks are queued. */
  function reserve(of: SlotOwner): RunToken | undefined {
    if (draining() || !knows(of.agent) || queued(of.agent)) return undefined
    return reserveForQueued(of)
  }

  /** Takes a slot for the task at the head of the queue. */
  function reserveForQueued({ agent, tenant }: SlotOwner): RunToken | undefined {
    if (!holdsLease()) return undefined
    const token = ids.uuid()
    return slots.take(agent, token, tenant) ? { token, worker: worker() } : undefined
  }

  function hasRun(taskId: string): boolean {
    const presence = presences.get(taskId)
    if (presence !== undefined && presence.phase !== 'warm') return true
    return ledger.peek(taskId)?.run !== undefined
  }

  /** Starts the run if its token was written. Otherwise frees its slot. */
  async function settle(
    taskId: string,
    run: RunToken | undefined,
    committing: Promise<Committed>,
  ): Promise<Committed> {
    let committed: Committed
    try {
      committed = await committing
    } catch (error) {
      if (run !== undefined) abandon(taskId, run)
      throw error
    }
    if (run === undefined) return committed
    // Later records of the same commit may have stopped the task again.
    const task = ledger.peek(taskId) ?? committed.latest
    const isWritten = committed.claimed === undefined && committed.records.length > 0
    if (isWritten && task.run?.token === run.token) launch(task)
    else abandon(taskId, run)
    return committed
  }

  /** Continues the run of the task if one is in memory. Otherwise builds a run. */
  function launch(task: Task): void {
    const token = task.run?.token
    // A run that began before the write already has this token.
    if (token === undefined || presences.get(task.id)?.token === token) return
    // The lease was lost while the command was written. The task is an orphan and will be taken over.
    if (task.run?.worker !== worker()) {
      slots.free(token)
      return
    }
    if (!draining() && isContinued(task.id, token)) return
    const former = presences.get(task.id)
    if (former !== undefined) {
      former.run?.discard('given-up')
      presences.move(former, 'leave')
    }
    const presence = presences.create(task, token)
    presences.move(presence, 'launch')
    // A process that began to shut down meanwhile builds no run: `drain` releases the task.
    if (!draining()) builder.build(presence, task)
  }

  /** Continues the run in memory. Returns false if there is none. */
  function isContinued(taskId: string, token: string): boolean {
    const presence = presences.get(taskId)
    if (presence?.phase !== 'warm' || presence.run?.dead !== false) return false
    const { run } = presence
    presence.token = token
    presences.move(presence, 'launch')
    run.adopt(token)
    run.giveBackSlot()
    return true
  }

  /** Starts the code of a task whose create is decided and not durable yet. */
  function launchAhead(task: Task): void {
    const token = task.run?.token
    if (token === undefined) return
    builder.beginAhead(presences.create(task, token), task)
  }

  /** The command of `run` was not written: frees its slot, and discards a run that began before the write. */
  function abandon(taskId: string, { token }: RunToken): void {
    const presence = presences.get(taskId)
    if (presence?.token === token) {
      presence.run?.discard('ended')
      presences.move(presence, 'leave')
    }
    slots.free(token)
  }

  return {
    commit(taskId, of, command, extras) {
      const run = hasRun(taskId) ? undefined : reserve(of)
      return settle(
        taskId,
        run,
        ledger.commit(taskId, (task) => command(task, run), extras),
      )
    },
    async start(taskId, of, command) {
      const run = reserveForQueued(of)
      return run && settle(taskId, run, ledger.commit(taskId, command(run)))
    },
    create({ taskId, agent, tenant, runs, ahead, command, extras }) {
      const run = runs ? reserve({ agent, tenant }) : undefined
      const begun = ahead && run !== undefined ? launchAhead : undefined
      return settle(
        taskId,
        run,
        ledger.create(taskId, (holdsFor) => command(run, holdsFor), extras, begun),
      )
    },
    continueAs(task) {
      const presence = presences.get(task.id)
      if (presence === undefined || presence.token !== task.run?.token) return
      if (presences.move(presence, 'continue-as') && !draining()) builder.build(presence, task)
    },
  }
}
