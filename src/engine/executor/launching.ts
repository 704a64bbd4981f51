/**
 * Commands that may start a run. A slot is reserved, and the command is written with the token of that slot. The run
 * begins if the command took the token. In every other case the slot is freed.
 *
 *   reserve ──▶ commit ──▶ taken? ──yes──▶ the run in memory continues, or a run is built
 *                             └──no──▶ the slot is freed
 */
import type { Command } from '../../core/commands.ts'
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { CommitExtras, Committed, HoldsForNew, Ledger } from '../ledger/ledger.ts'
import type { Builder } from './building.ts'
import type { TaskLauncher } from './launch-task.ts'
import type { Presences } from './presence.ts'
import type { SlotOwner, SlotReservations } from './reserve-slot.ts'

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
  readonly presences: Presences
  readonly builder: Builder
  readonly reservations: SlotReservations
  readonly launcher: TaskLauncher
  readonly draining: () => boolean
}

export function createLaunching(deps: LaunchingDeps): Launching {
  const { ledger, presences, builder, reservations, launcher, draining } = deps

  function hasRun(taskId: string): boolean {
    const presence = presences.get(taskId)
    if (presence !== undefined && presence.phase !== 'warm') return true
    return ledger.peek(taskId)?.run !== undefined
  }

  /** Starts the run if the command took its token. Otherwise frees its slot. */
  async function settle(
    taskId: string,
    run: RunToken | undefined,
    committing: Promise<Committed>,
  ): Promise<Committed> {
    let committed: Committed
    try {
      committed = await committing
    } catch (error) {
      if (run !== undefined) launcher.abandon(taskId, run)
      throw error
    }
    if (run === undefined) return committed
    // Later records of the same commit may have stopped the task again.
    const task = ledger.peek(taskId) ?? committed.latest
    if (committed.claimed !== undefined) launcher.abandon(taskId, run)
    else if (task.run?.token === run.token && committed.records.length > 0) launcher.launch(task)
    else launcher.abandon(taskId, run)
    return committed
  }

  return {
    commit(taskId, of, command, extras) {
      const run = hasRun(taskId) ? undefined : reservations.reserve(of)
      return settle(
        taskId,
        run,
        ledger.commit(taskId, (task) => command(task, run), extras),
      )
    },
    async start(taskId, of, command) {
      const run = reservations.reserveForQueued(of)
      if (run === undefined) return undefined
      return settle(taskId, run, ledger.commit(taskId, command(run)))
    },
    create({ taskId, agent, tenant, runs, ahead, command, extras }) {
      const run = runs ? reservations.reserve({ agent, tenant }) : undefined
      const begun = ahead && run !== undefined ? launcher.launchAhead : undefined
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
