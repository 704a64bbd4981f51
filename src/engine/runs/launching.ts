/**
 * Commands that may set a task going: a slot is reserved, the command is written with the token of that slot, and the
 * run begins if the command took the token. Whatever happens, the slot is used or given back.
 *
 *   reserve ──▶ commit ──▶ taken? ──yes──▶ warm frame goes on, or a frame is built
 *                             └──no──▶ slot is free again
 */
import type { Command } from '../../core/commands.ts'
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { CommitExtras, Committed, Ledger } from '../ledger.ts'
import type { Builder } from './building.ts'
import type { Presences } from './presence.ts'
import type { Slots } from './slots.ts'

export interface Launching {
  /** Commits a command that may set a task going, with a slot for it where one is free. */
  commit(
    taskId: string,
    agent: string,
    command: (task: Task | undefined, run: RunToken | undefined) => Command,
    extras?: CommitExtras,
  ): Promise<Committed>
  /** The same for a task that waits for a slot. Undefined: no slot is free. */
  start(
    taskId: string,
    agent: string,
    command: (run: RunToken) => Command,
  ): Promise<Committed | undefined>
  /** Creates a task. With `ahead`, its code begins while it is written. */
  create(creation: Creation): Promise<Committed>
  /** The task goes on in a new run (`continueAs`). */
  continueAs(task: Task): void
}

export interface Creation {
  readonly taskId: string
  readonly agent: string
  /** False: the task is over with its first commit, and needs no slot. */
  readonly runs: boolean
  readonly ahead: boolean
  readonly command: (run: RunToken | undefined) => Command
  readonly extras: CommitExtras
}

export interface LaunchingDeps {
  readonly ledger: Pick<Ledger, 'commit' | 'create' | 'peek'>
  readonly ids: IdSource
  readonly worker: string
  readonly slots: Slots
  readonly presences: Presences
  readonly builder: Builder
  /** Whether the agent is registered. */
  readonly knows: (agent: string) => boolean
  /** Whether older tasks of the agent wait for a slot. */
  readonly queued: (agent: string) => boolean
  readonly draining: () => boolean
}

export function createLaunching(deps: LaunchingDeps): Launching {
  const { ledger, ids, worker, slots, presences, builder, draining } = deps

  /** Do not take a free slot while older tasks are queued. */
  function reserve(agent: string): RunToken | undefined {
    return draining() || !deps.knows(agent) || deps.queued(agent) ? undefined : mint(agent)
  }

  function mint(agent: string): RunToken | undefined {
    const token = ids.uuid()
    return slots.take(agent, token) ? { token, worker } : undefined
  }

  function isGoing(taskId: string): boolean {
    const presence = presences.get(taskId)
    if (presence !== undefined && presence.phase !== 'warm') return true
    return ledger.peek(taskId)?.run !== undefined
  }

  /** Uses the slot of `run` for the task when the command took it, and gives it back otherwise. */
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
    const task = ledger.peek(taskId) ?? committed.latest
    if (committed.claimed !== undefined) abandon(taskId, run)
    // What was written behind the command may have stopped the task again.
    else if (task.run?.token === run.token && committed.records.length > 0) launch(task)
    else slots.free(run.token)
    return committed
  }

  /** Nothing was written. Code that began ahead is given up: its task will never exist. */
  function abandon(taskId: string, { token }: RunToken): void {
    const presence = presences.get(taskId)
    if (presence?.token === token) {
      presence.run?.discard('ended')
      presences.move(presence, 'leave')
    }
    slots.free(token)
  }

  function launch(task: Task): void {
    const token = task.run?.token
    if (token === undefined) return
    const known = presences.get(task.id)
    // It began ahead.
    if (known?.token === token) return
    if (known?.phase === 'warm' && known.run?.dead === false && !draining()) {
      known.token = token
      presences.move(known, 'launch')
      known.run.adopt(token)
      if (known.run.onlyWaitsForChildren) presences.move(known, 'wait')
      return
    }
    if (known !== undefined) {
      known.run?.discard('given-up')
      presences.move(known, 'leave')
    }
    const presence = presences.create(task.id, task.agent, token)
    presences.move(presence, 'launch')
    // Asked for before the process began to stop, written after: `drain` hands it on.
    if (!draining()) builder.build(presence, task)
  }

  return {
    commit(taskId, agent, command, extras) {
      const run = isGoing(taskId) ? undefined : reserve(agent)
      return settle(
        taskId,
        run,
        ledger.commit(taskId, (task) => command(task, run), extras),
      )
    },
    async start(taskId, agent, command) {
      const run = mint(agent)
      if (run === undefined) return undefined
      return settle(taskId, run, ledger.commit(taskId, command(run)))
    },
    create({ taskId, agent, runs, ahead, command, extras }) {
      const run = runs ? reserve(agent) : undefined
      const begun = ahead && run !== undefined ? beginAhead : undefined
      return settle(
        taskId,
        run,
        ledger.create(taskId, () => command(run), extras, begun),
      )
    },
    continueAs(task) {
      const presence = presences.get(task.id)
      if (presence === undefined || presence.token !== task.run?.token) return
      if (presences.move(presence, 'continue-as') && !draining()) builder.build(presence, task)
    },
  }

  function beginAhead(task: Task): void {
    const token = task.run?.token
    if (token === undefined) return
    builder.beginAhead(presences.create(task.id, task.agent, token), task)
  }
}
