/**
 * Which tasks run in this process. Hands out slots, starts runs fresh or from the journal, keeps stopped ones warm for a
 * while, takes over what a dead process left, and pulls waiting tasks in when a slot is free.
 *
 * Invariants (runs.test.ts):
 *  N1  at most one live run per task, and it holds the token in the task's log;
 *  N2  a task that could run and has no run is in the store's `ready` list: nothing waits in memory only;
 *  N3  warm or cold, a task goes on with the same records.
 */
import type { Command } from '../core/commands.ts'
import type { LogRecord, RunToken } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { PauseMode } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Memory } from '../ports/memory.ts'
import type { TaskStore } from '../ports/store/tasks.ts'
import type { WorkStore } from '../ports/store/work.ts'
import type { Agent } from './agent.ts'
import { createBacklog } from './backlog.ts'
import { noPast, type Past } from './conversation.ts'
import type { CommitExtras, Committed, Ledger } from './ledger.ts'
import { logOf } from './log-of.ts'
import { type Ask, createAsk } from './providers/asking.ts'
import type { RunHost } from './run/host.ts'
import { Journal } from './run/journal.ts'
import { Run, type RunOwner } from './run/run.ts'
import { createSlots } from './slots.ts'
import { createStandstill } from './standstill.ts'
import { TransientMap } from './transient-map.ts'
import { createWarm } from './warm.ts'

export interface Runs {
  /** Commits a command that may set the task going, with a slot for it where one is free. */
  commit(
    taskId: string,
    agent: string,
    command: (task: Task | undefined, run: RunToken | undefined) => Command,
    along?: CommitExtras,
  ): Promise<Committed>
  /** Takes the slot a command may use; `launch` starts the run if it did. */
  reserve(agent: string): RunToken | undefined
  launch(committed: Committed, run: RunToken | undefined): void
  /** Starts a task that is decided and not durable: its code runs up to its first operation and no further. */
  readonly launchAhead: (task: Task) => void
  /** The task will never exist: gives back the slot, and gives up the run that began ahead. */
  abandon(taskId: string, run: RunToken | undefined): void
  observe(task: Task, records: readonly LogRecord[]): void
  /**
   * Commits a command that may stop the task. `atBoundary` tells the command whether the task stands still now; if it
   * does, nothing of the task starts until the command is written or refused.
   */
  commitStop(
    taskId: string,
    mode: PauseMode,
    command: (task: Task | undefined, atBoundary: boolean) => Command,
  ): Promise<Committed>
  /** Gives back the slot while the run does nothing but wait for children. */
  releaseSlot(taskId: string): void
  /** Takes a slot again. */
  reacquireSlot(taskId: string): Promise<void>
  /** A child ended: a parent that was evicted while waiting goes on. */
  childEnded(parentId: string): void
  /** Takes over what dead processes left and what waits for a slot. */
  recover(): Promise<void>
  /** Lets every run come to a boundary, at most so long, and hands its task on. */
  drain(timeoutMs: number): Promise<void>
  readonly counts: () => { readonly live: number; readonly warm: number; readonly busy: number }
  /** Agents with steps in flight: who may be blocking the loop. */
  readonly suspects: () => readonly string[]
}

export interface RunsDeps {
  readonly store: TaskStore & WorkStore
  readonly ledger: Ledger
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly memory: Memory
  readonly agents: ReadonlyMap<string, Agent>
  readonly worker: string
  readonly host: RunHost
  readonly maxDeaths: number
  readonly concurrency: number
  readonly warmForMs: number
  readonly memoryLimitBytes: number
  readonly pastOf: (task: Task) => Promise<Past>
}

const RETRY_MS = 1_000
const noRecords: readonly LogRecord[] = []
/** A stopping process waits this much longer for what it has handed to the store. */
const LAST_WRITE_MS = 1_000

export function createRuns(deps: RunsDeps): Runs {
  const { store, ledger, clock, ids, log, agents, worker, host } = deps
  const asks = new Map([...agents].map(([name, agent]) => [name, createAsk(host, agent)]))
  const live = new TransientMap<Run>()
  /** The token of each task that holds a slot. */
  const holding = new TransientMap<string>()
  /** Tasks of ours that have no frame: being built, or evicted while they wait for a child. */
  const frameless = new Set<string>()
  /** Tasks without a live run that a pause is about to stop: none may start meanwhile. */
  const standstill = createStandstill()
  const slotWaiters = new Map<string, (() => void)[]>()
  let draining = false
  const owner: RunOwner = {
    again(task) {
      live.delete(task.id)
      begin(task)
    },
    lost: forget,
  }

  const slots = createSlots(
    (name) => agents.get(name)?.concurrency ?? deps.concurrency,
    (name) => {
      const next = slotWaiters.get(name)?.shift()
      if (next !== undefined) next()
      else backlog.pump(name)
    },
  )
  const warm = createWarm(clock, deps.memory, deps, evict)
  const backlog = createBacklog({
    ...deps,
    knows: (agent) => agents.has(agent),
    available: slots.available,
    mint,
    free: ({ token }) => slots.free(token),
    launch,
  })

  /** The task as far as it is in memory. */
  function known(taskId: string): Task | undefined {
    return live.get(taskId)?.task ?? ledger.peek(taskId)
  }

  /** Not while others wait: they were first. */
  function reserve(agent: string): RunToken | undefined {
    if (draining || !agents.has(agent) || backlog.waiting(agent)) return undefined
    return mint(agent)
  }

  function mint(agent: string): RunToken | undefined {
    const token = ids.uuid()
    return slots.take(agent, token) ? { token, worker } : undefined
  }

  async function commit(
    taskId: string,
    agent: string,
    command: (task: Task | undefined, run: RunToken | undefined) => Command,
    along?: CommitExtras,
  ): Promise<Committed> {
    const had = known(taskId)?.run !== undefined
    const run = had ? undefined : reserve(agent)
    try {
      const committed = await ledger.commit(taskId, (task) => command(task, run), along)
      launch(committed, run)
      return committed
    } catch (error) {
      if (run !== undefined) slots.free(run.token)
      throw error
    }
  }

  function launch(committed: Committed, run: RunToken | undefined): void {
    if (run === undefined) return
    // Looked at as the commit left it: what was written behind the command may have stopped it again.
    if (committed.latest.run?.token !== run.token || committed.records.length === 0) {
      slots.free(run.token)
      return
    }
    begin(committed.latest)
  }

  /** The task has a token of ours: its warm run goes on, or a run is made. */
  function begin(task: Task): void {
    const token = task.run?.token
    if (token === undefined) return
    // Written after the command that minted the token, in the same flush: it may be stopped again.
    if ((ledger.peek(task.id) ?? task).run?.token !== token) {
      slots.free(token)
      return
    }
    // Asked for before the process began to stop, written after: `drain` hands it on.
    if (draining) {
      frameless.add(task.id)
      return
    }
    // It began ahead.
    if (holding.get(task.id) === token && live.has(task.id)) return
    holding.set(task.id, token)
    const stopped = live.get(task.id)
    if (stopped?.dead) live.delete(task.id)
    else if (stopped !== undefined) {
      warm.remove(task.id)
      stopped.adopt(token)
      if (stopped.resting) {
        giveBack(task.id)
        warm.add(task.id)
      }
      return
    }
    frameless.add(task.id)
    build(task, token).catch((error: unknown) => {
      log('error', 'a run could not be built; it is tried again', { taskId: task.id, error })
      clock.after(RETRY_MS, () => rebuild(task, token))
    })
  }

  /** Unless it was stopped or has ended meanwhile. */
  function rebuild(task: Task, token: string): void {
    ledger.read(task.id).then(
      (now) => {
        if (now?.run?.token === token) begin(now)
        else unbuilt(task.id, token)
      },
      () => clock.after(RETRY_MS, () => rebuild(task, token)),
    )
  }

  /** Stopped before it was built, and nobody knew yet that it had this slot. */
  function unbuilt(taskId: string, token: string): void {
    frameless.delete(taskId)
    if (holding.get(taskId) === token) giveBack(taskId)
  }

  async function build(task: Task, token: string): Promise<void> {
    const agent = agents.get(task.agent)
    if (agent === undefined) return
    // Nothing but "submitted" and "started": there is no journal to read.
    const fresh = task.version <= 2
    const journal = new Journal(fresh ? noRecords : await journalOf(task), task.journal.wake)
    const past = await deps.pastOf(task)
    let current: Task | undefined
    do {
      await standstill.over(task.id)
      current = await ledger.read(task.id)
    } while (standstill.has(task.id))
    if (current?.run?.token !== token) {
      unbuilt(task.id, token)
      return
    }
    if (draining || live.has(task.id)) return
    frameless.delete(task.id)
    start(agent, current, token, journal, past)
  }

  function start(
    agent: Agent,
    task: Task,
    token: string,
    journal: Journal,
    past: Past,
    ahead = false,
  ): void {
    const ask = asks.get(agent.name) as Ask
    const run = new Run({ host, owner, agent, task, token, journal, past, ask, ahead })
    live.set(task.id, run)
    run.start()
  }

  function forget(taskId: string): void {
    live.delete(taskId)
    warm.remove(taskId)
    giveBack(taskId)
  }

  function launchAhead(task: Task): void {
    const agent = agents.get(task.agent)
    const token = task.run?.token
    if (agent === undefined || token === undefined || draining) return
    holding.set(task.id, token)
    start(agent, task, token, new Journal(noRecords), noPast, true)
  }

  function abandon(taskId: string, run: RunToken | undefined): void {
    if (run === undefined) return
    if (holding.get(taskId) === run.token) {
      live.get(taskId)?.discard()
      forget(taskId)
    } else slots.free(run.token)
  }

  async function journalOf(task: Task): Promise<readonly LogRecord[]> {
    const log: LogRecord[] = []
    // The `continued` record itself carries the transcript.
    const after = Math.max(0, task.journal.afterSeq - 1)
    for await (const record of logOf(store, task.id, after)) log.push(record)
    return log
  }

  function observe(task: Task, records: readonly LogRecord[]): void {
    const run = live.get(task.id)
    run?.observe(records, task)
    if (task.run === undefined) frameless.delete(task.id)
    if (isTerminal(task.state)) {
      forget(task.id)
      return
    }
    if (task.run === undefined) {
      giveBack(task.id)
      if (run?.dead) live.delete(task.id)
      else if (run !== undefined && task.state !== 'working') warm.add(task.id)
      const waits =
        (task.state === 'submitted' || task.state === 'working') && task.holds.length === 0
      if (waits) backlog.enlist(task.agent)
    }
  }

  function giveBack(taskId: string): void {
    const token = holding.get(taskId)
    if (token === undefined) return
    holding.delete(taskId)
    slots.free(token)
  }

  function evict(taskId: string): void {
    const run = live.get(taskId)
    if (run === undefined) return
    const awaited = run.task.state === 'working' ? [...run.awaited] : []
    run.discard()
    live.delete(taskId)
    if (awaited.length === 0) return
    frameless.add(taskId)
    // It may have been told of its child's end just now, and not have taken it up.
    Promise.all(awaited.map(ledger.read))
      .then((children) => {
        if (children.some((child) => child !== undefined && isTerminal(child.state)))
          childEnded(taskId)
      })
      .catch((error: unknown) => log('error', 'a child could not be read', { taskId, error }))
  }

  async function commitStop(
    taskId: string,
    mode: PauseMode,
    command: (task: Task | undefined, atBoundary: boolean) => Command,
  ): Promise<Committed> {
    try {
      return await ledger.commit(taskId, (task) =>
        command(task, task?.state === 'working' && freeze(taskId, mode)),
      )
    } finally {
      thaw(taskId)
    }
  }

  function freeze(taskId: string, mode: PauseMode): boolean {
    const run = live.get(taskId)
    if (run !== undefined) return run.freeze(mode)
    standstill.begin(taskId)
    return true
  }

  function thaw(taskId: string): void {
    standstill.end(taskId)
    live.get(taskId)?.thaw()
  }

  /** Waits for a slot for a task that is already going. */
  async function takeSlot(taskId: string, agent: string, token: string): Promise<void> {
    while (!slots.take(agent, token)) {
      await new Promise<void>((resolve) => {
        slotWaiters.set(agent, [...(slotWaiters.get(agent) ?? []), resolve])
      })
    }
    // Stopped or ended while it waited: the next in line needs the slot more.
    if ((await ledger.read(taskId))?.run?.token === token) holding.set(taskId, token)
    else slots.free(token)
  }

  function releaseSlot(taskId: string): void {
    if (draining || !live.has(taskId) || !holding.has(taskId)) return
    giveBack(taskId)
    warm.add(taskId)
  }

  async function reacquireSlot(taskId: string): Promise<void> {
    const run = live.get(taskId)
    const token = run?.task.run?.token
    if (run === undefined || token === undefined) return
    warm.remove(taskId)
    await takeSlot(taskId, run.agent, token)
  }

  /** Goes on with a task of ours that waited for a child without being in memory. */
  async function revive(taskId: string): Promise<void> {
    const task = await ledger.read(taskId)
    if (live.has(taskId) || task?.state !== 'working' || task.run?.worker !== worker) return
    await takeSlot(taskId, task.agent, task.run.token)
    if (!live.has(taskId)) begin(task)
  }

  function childEnded(taskId: string): void {
    if (live.has(taskId)) return
    revive(taskId).catch((error: unknown) =>
      log('error', 'a waiting parent could not be woken', { taskId, error }),
    )
  }

  /** Every task of ours is handed on: at a boundary where one is reached in time, and also those with no frame. */
  async function drain(timeoutMs: number): Promise<void> {
    draining = true
    backlog.stop()
    warm.close()
    const late = new Promise<void>((resolve) => {
      clock.after(timeoutMs, resolve)
    })
    const tooLate = new Promise<void>((resolve) => {
      clock.after(timeoutMs + LAST_WRITE_MS, resolve)
    })
    const runs = live.values()
    const handOn = async (): Promise<void> => {
      await Promise.allSettled([
        ...runs.map((run) => run.release(late)),
        ...[...frameless].map(release),
      ])
      // And what was on its way to the store when it began.
      await ledger.idle()
      await Promise.allSettled([...frameless].map(release))
    }
    await Promise.race([handOn(), tooLate])
    for (const run of runs) run.discard()
    live.clear()
  }

  async function release(taskId: string): Promise<void> {
    const task = await ledger.read(taskId)
    if (task?.run?.worker !== worker) return
    const reason = 'it was in no operation'
    await ledger.commit(taskId, { type: 'release', run: task.run.token, reason })
  }

  return {
    commit,
    reserve,
    launch,
    launchAhead,
    abandon,
    observe,
    commitStop,
    releaseSlot,
    reacquireSlot,
    childEnded,
    recover: backlog.recover,
    drain,
    counts: () => ({ live: live.size, warm: warm.size(), busy: slots.used() }),
    suspects: () => [
      ...new Set(
        live
          .values()
          .filter((run) => run.steps > 0)
          .map((run) => run.agent),
      ),
    ],
  }
}
