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
import { isLullError } from '../core/errors.ts'
import type { LogRecord, RunToken } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { PauseMode } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Memory } from '../ports/memory.ts'
import type { TaskStore } from '../ports/task-store.ts'
import type { Agent } from './agent.ts'
import { type Conversation, emptyConversation } from './conversation.ts'
import type { Committed, Ledger } from './ledger.ts'
import type { RunHost } from './run/host.ts'
import { emptyJournal, readJournal } from './run/journal.ts'
import { createRun, type Run } from './run/run.ts'
import { createSlots } from './slots.ts'
import { createWarm } from './warm.ts'

export interface Runs {
  /** Commits a command that may set the task going, with a slot for it where one is free. */
  commit(
    taskId: string,
    agent: string,
    command: (task: Task | undefined, run: RunToken | undefined) => Command,
  ): Promise<Committed>
  /** Takes the slot a command may use; `launch` starts the run if it did. */
  reserve(agent: string): RunToken | undefined
  unreserve(run: RunToken | undefined): void
  launch(committed: Committed, run: RunToken | undefined, inNewContext?: boolean): void
  observe(task: Task, records: readonly LogRecord[]): void
  /** Freezes the task for a pause, if its run stands still (or there is none); always followed by `thaw`. */
  freeze(taskId: string, mode: PauseMode): boolean
  /** The pause was written or not: what still works goes on. */
  thaw(taskId: string): void
  /** Gives back the slot while the run waits for a child; the answer takes one again. */
  yieldSlot(taskId: string): () => Promise<void>
  /** A child ended: a parent that was evicted while waiting goes on. */
  rouse(taskId: string): void
  /** Takes over what dead processes left and what waits for a slot. */
  recover(): Promise<void>
  /** Lets every run come to a boundary, at most so long, and hands its task on. */
  drain(timeoutMs: number): Promise<void>
  readonly counts: () => { readonly live: number; readonly warm: number; readonly busy: number }
  /** Agents with steps in flight: who may be blocking the loop. */
  readonly suspects: () => readonly string[]
}

export interface RunsDeps {
  readonly store: TaskStore
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
  readonly conversationOf: (
    task: Task,
  ) => Promise<{ context: Conversation; referenced: readonly Task[] }>
}

const PAGE = 256

export function createRuns(deps: RunsDeps): Runs {
  const { store, ledger, clock, ids, log, agents, worker, host } = deps
  const live = new Map<string, Run>()
  /** The token of each task that holds a slot. */
  const holding = new Map<string, string>()
  const orphans = new Map<string, string[]>()
  /** Agents that may have ready tasks in the store. */
  const backlog = new Set<string>()
  const pumping = new Set<string>()
  /** Tasks without a live run that a pause is about to stop: none may start meanwhile. */
  const thawed = new Map<
    string,
    { readonly promise: Promise<void>; readonly resolve: () => void }
  >()
  const slotWaiters = new Map<string, (() => void)[]>()
  let draining = false

  const slots = createSlots(
    (name) => agents.get(name)?.concurrency ?? deps.concurrency,
    (name) => {
      const next = slotWaiters.get(name)?.shift()
      if (next !== undefined) next()
      else pump(name)
    },
  )
  const warm = createWarm(clock, deps.memory, deps, evict)

  function reserve(agent: string): RunToken | undefined {
    if (draining || !agents.has(agent)) return undefined
    const token = ids.uuid()
    return slots.take(agent, token) ? { token, worker } : undefined
  }

  async function commit(
    taskId: string,
    agent: string,
    command: (task: Task | undefined, run: RunToken | undefined) => Command,
  ): Promise<Committed> {
    const had = ledger.peek(taskId)?.run !== undefined
    const run = had ? undefined : reserve(agent)
    try {
      const committed = await ledger.commit(taskId, (task) => command(task, run))
      launch(committed, run)
      return committed
    } catch (error) {
      if (run !== undefined) slots.free(run.token)
      throw error
    }
  }

  function launch(committed: Committed, run: RunToken | undefined, inNewContext = false): void {
    const { task } = committed
    if (run === undefined) return
    if (task.run?.token !== run.token || committed.records.length === 0) {
      slots.free(run.token)
      return
    }
    begin(task, inNewContext)
  }

  /** The task has a token of ours: its warm run goes on, or a run is made. */
  function begin(task: Task, inNewContext = false): void {
    const token = task.run?.token
    if (token === undefined) return
    // Written after the command that minted the token, in the same flush: it may be stopped again.
    if ((ledger.peek(task.id) ?? task).run?.token !== token) {
      slots.free(token)
      return
    }
    holding.set(task.id, token)
    const known = live.get(task.id)
    if (known !== undefined) {
      warm.remove(task.id)
      known.adopt(token)
      if (known.resting()) {
        giveBack(task.id)
        warm.add(task.id)
      }
      return
    }
    build(task, token, inNewContext).catch((error: unknown) => {
      log('error', 'a run could not be built; it is tried again', { taskId: task.id, error })
      clock.after(1_000, () => begin(task))
    })
  }

  async function build(task: Task, token: string, inNewContext: boolean): Promise<void> {
    const agent = agents.get(task.agent)
    if (agent === undefined) return
    // Nothing but "submitted" and "started": there is no journal to read.
    const fresh = task.version <= 2
    const journal = fresh ? emptyJournal : readJournal(await journalOf(task))
    const { context, referenced } = inNewContext
      ? { context: emptyConversation, referenced: [] }
      : await deps.conversationOf(task)
    await thawed.get(task.id)?.promise
    const current = ledger.peek(task.id) ?? task
    if (live.has(task.id) || current.run?.token !== token) return
    const run = createRun({
      host,
      agent,
      task: current,
      token,
      journal,
      conversation: context,
      referenced,
      again: () => {
        live.delete(task.id)
        begin(ledger.peek(task.id) ?? task)
      },
    })
    live.set(task.id, run)
    run.start()
  }

  async function journalOf(task: Task): Promise<readonly LogRecord[]> {
    const log: LogRecord[] = []
    // The `continued` record itself carries the transcript.
    let after = Math.max(0, task.journal.afterSeq - 1)
    for (;;) {
      const page = await store.records(task.id, after, PAGE)
      log.push(...page)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return log
      after = last.seq
    }
  }

  function observe(task: Task, records: readonly LogRecord[]): void {
    const run = live.get(task.id)
    run?.observe(records, task)
    if (isTerminal(task.state)) {
      live.delete(task.id)
      warm.remove(task.id)
      giveBack(task.id)
      return
    }
    if (task.run === undefined) {
      giveBack(task.id)
      if (run?.dead()) live.delete(task.id)
      else if (run !== undefined && task.state !== 'working') warm.add(task.id)
      const waits =
        (task.state === 'submitted' || task.state === 'working') && task.holds.length === 0
      if (waits) enlist(task.agent)
    }
  }

  function giveBack(taskId: string): void {
    const token = holding.get(taskId)
    if (token === undefined) return
    holding.delete(taskId)
    slots.free(token)
  }

  function evict(taskId: string): void {
    live.get(taskId)?.discard()
    live.delete(taskId)
  }

  function enlist(agent: string): void {
    backlog.add(agent)
    // After the caller had its chance to use the slot it reserved.
    setImmediate(() => pump(agent))
  }

  function pump(agent: string): void {
    if (draining || pumping.has(agent)) return
    if (!backlog.has(agent) && !orphans.has(agent)) return
    pumping.add(agent)
    pull(agent)
      .catch((error: unknown) => {
        log('error', 'waiting tasks could not be started; trying again', { agent, error })
        clock.after(1_000, () => pump(agent))
      })
      .finally(() => pumping.delete(agent))
  }

  async function pull(agent: string): Promise<void> {
    while (!draining) {
      const room = agents.has(agent) ? slots.available(agent) : PAGE
      if (room <= 0) return
      const left = orphans.get(agent)
      if (left !== undefined) {
        const batch = left.splice(0, room)
        if (left.length === 0) orphans.delete(agent)
        await Promise.all(batch.map((taskId) => start(taskId, agent, true)))
        continue
      }
      backlog.delete(agent)
      const ready = await store.ready(agent, Math.min(room, PAGE))
      if (ready.length === 0) return
      backlog.add(agent)
      await Promise.all(ready.map((taskId) => start(taskId, agent, false)))
    }
  }

  async function start(taskId: string, agent: string, died: boolean): Promise<void> {
    const handle = `suspend-${ids.uuid()}`
    if (!agents.has(agent)) {
      const summary = `No agent named "${agent}" is registered any more. Register it and resume, or cancel.`
      const reason = 'agent-unknown'
      await ledger.commit(taskId, {
        type: 'policy-pause',
        handle,
        reason,
        summary,
        atBoundary: true,
      })
      return
    }
    const run = reserve(agent)
    if (run === undefined) return
    try {
      const { maxDeaths } = deps
      launch(await ledger.commit(taskId, { type: 'start', run, died, maxDeaths, handle }), run)
    } catch (error) {
      slots.free(run.token)
      if (!isLullError(error, 'TASK_NOT_FOUND')) throw error
    }
  }

  function freeze(taskId: string, mode: PauseMode): boolean {
    const run = live.get(taskId)
    if (run !== undefined) return run.freeze(mode)
    if (!thawed.has(taskId)) {
      let resolve: () => void = () => undefined
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      thawed.set(taskId, { promise, resolve })
    }
    return true
  }

  function thaw(taskId: string): void {
    thawed.get(taskId)?.resolve()
    thawed.delete(taskId)
    const working = ledger.peek(taskId)?.state === 'working'
    if (working) live.get(taskId)?.thaw()
  }

  /** Waits for a slot for a task that is already going. */
  async function takeSlot(taskId: string, agent: string, token: string): Promise<void> {
    while (!slots.take(agent, token)) {
      await new Promise<void>((resolve) => {
        slotWaiters.set(agent, [...(slotWaiters.get(agent) ?? []), resolve])
      })
    }
    // Stopped or ended while it waited: the next in line needs the slot more.
    if (ledger.peek(taskId)?.run?.token === token) holding.set(taskId, token)
    else slots.free(token)
  }

  function yieldSlot(taskId: string): () => Promise<void> {
    const agent = live.get(taskId)?.agent
    const token = holding.get(taskId)
    if (agent === undefined || token === undefined) return () => Promise.resolve()
    giveBack(taskId)
    warm.add(taskId)
    return async () => {
      warm.remove(taskId)
      const now = ledger.peek(taskId)?.run?.token
      if (now !== undefined) await takeSlot(taskId, agent, now)
    }
  }

  /** Goes on with a task of ours that waited for a child without being in memory. */
  async function revive(taskId: string): Promise<void> {
    const task = await ledger.read(taskId)
    if (live.has(taskId) || task?.state !== 'working' || task.run?.worker !== worker) return
    await takeSlot(taskId, task.agent, task.run.token)
    if (!live.has(taskId)) begin(task)
  }

  function rouse(taskId: string): void {
    if (live.has(taskId)) return
    revive(taskId).catch((error: unknown) =>
      log('error', 'a waiting parent could not be woken', { taskId, error }),
    )
  }

  async function recover(): Promise<void> {
    const seen = new Set<string>()
    for (;;) {
      const page = (await store.orphans(worker, PAGE + seen.size)).filter((id) => !seen.has(id))
      if (page.length === 0) break
      for (const taskId of page) {
        seen.add(taskId)
        const task = await ledger.read(taskId)
        if (task !== undefined)
          orphans.set(task.agent, [...(orphans.get(task.agent) ?? []), taskId])
      }
    }
    for (const agent of await store.readyAgents()) backlog.add(agent)
    if (seen.size > 0)
      log('info', 'taking over tasks of a process that is gone', { tasks: seen.size })
    for (const agent of new Set([...orphans.keys(), ...backlog])) pump(agent)
  }

  async function drain(timeoutMs: number): Promise<void> {
    draining = true
    warm.close()
    const runs = [...live.values()]
    let giveUp: () => void = () => undefined
    const cancel = clock.after(timeoutMs, () => giveUp())
    const late = new Promise<void>((resolve) => {
      giveUp = resolve
    })
    await Promise.all(runs.map((run) => run.release(late)))
    cancel()
    for (const run of runs) run.discard()
    live.clear()
  }

  return {
    commit,
    reserve,
    unreserve: (run) => {
      if (run !== undefined) slots.free(run.token)
    },
    launch,
    observe,
    freeze,
    thaw,
    yieldSlot,
    rouse,
    recover,
    drain,
    counts: () => ({ live: live.size, warm: warm.size(), busy: slots.used() }),
    suspects: () => [
      ...new Set([...live.values()].filter((run) => run.steps() > 0).map((run) => run.agent)),
    ],
  }
}
