/**
 * Tasks that could run and that nobody runs: those that wait for a slot, in the order of the store's `ready` list, and
 * those a dead process left. They are pulled in as slots come free.
 *
 * B1  Whoever waits is not overtaken by who comes later.
 * B2  A slot that comes free while tasks wait is used.
 */
import { isLullError } from '../core/errors.ts'
import type { RunToken } from '../core/records.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { WorkStore } from '../ports/store/work.ts'
import type { Committed, Ledger } from './ledger.ts'

export interface Backlog {
  /** A task of the agent waits in the store's `ready` list. */
  enlist(agent: string): void
  /** A slot of the agent came free. */
  pump(agent: string): void
  /** Whether tasks of the agent wait already. */
  readonly waiting: (agent: string) => boolean
  /** Takes over what dead processes left and what waits for a slot. */
  recover(): Promise<void>
  stop(): void
}

export interface BacklogDeps {
  readonly store: WorkStore
  readonly ledger: Ledger
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly worker: string
  readonly maxDeaths: number
  readonly knows: (agent: string) => boolean
  readonly available: (agent: string) => number
  /** A token with a slot, if there is one. */
  readonly mint: (agent: string) => RunToken | undefined
  readonly free: (run: RunToken) => void
  readonly launch: (committed: Committed, run: RunToken) => void
}

const PAGE = 256
const RETRY_MS = 1_000

export function createBacklog(deps: BacklogDeps): Backlog {
  const { store, ledger, clock, ids, log, worker, maxDeaths, knows, available } = deps
  const orphans = new Map<string, string[]>()
  /** Agents that may have ready tasks in the store. */
  const ready = new Set<string>()
  const pumping = new Set<string>()
  let stopped = false

  /** Also while the store is asked: the mark in `ready` is gone then, and the tasks still wait (B1). */
  const waiting = (agent: string): boolean =>
    ready.has(agent) || orphans.has(agent) || pumping.has(agent)

  function enlist(agent: string): void {
    ready.add(agent)
    // After the caller had its chance to use the slot it reserved.
    setImmediate(() => pump(agent))
  }

  function pump(agent: string): void {
    if (stopped || pumping.has(agent) || !waiting(agent)) return
    pumping.add(agent)
    pull(agent).then(
      () => {
        pumping.delete(agent)
        // A slot may have come free, or a task come in, since it looked for the last time.
        if (room(agent) > 0) pump(agent)
      },
      (error: unknown) => {
        pumping.delete(agent)
        log('error', 'waiting tasks could not be started; trying again', { agent, error })
        clock.after(RETRY_MS, () => pump(agent))
      },
    )
  }

  const room = (agent: string): number => (knows(agent) ? available(agent) : PAGE)

  async function pull(agent: string): Promise<void> {
    for (let places = room(agent); places > 0 && !stopped; places = room(agent)) {
      const left = orphans.get(agent)
      if (left !== undefined) {
        await startOrphans(agent, left.splice(0, Math.min(places, PAGE)))
        continue
      }
      const page = await readyPage(agent, Math.min(places, PAGE))
      if (page.length === 0) return
      await Promise.all(page.map((taskId) => start(taskId, agent, false)))
    }
  }

  /** The mark is taken away before the look, so that one set meanwhile is seen. */
  async function readyPage(agent: string, limit: number): Promise<readonly string[]> {
    ready.delete(agent)
    try {
      const page = await store.ready(agent, limit)
      if (page.length > 0) ready.add(agent)
      return page
    } catch (error) {
      ready.add(agent)
      throw error
    }
  }

  async function startOrphans(agent: string, batch: readonly string[]): Promise<void> {
    const left = orphans.get(agent) ?? []
    await Promise.all(
      batch.map(async (taskId) => {
        let taken = false
        try {
          taken = await start(taskId, agent, true)
        } finally {
          if (!taken) left.push(taskId)
        }
      }),
    ).finally(() => {
      if (left.length === 0) orphans.delete(agent)
    })
  }

  /** False: the slot was gone again. */
  async function start(taskId: string, agent: string, died: boolean): Promise<boolean> {
    const handle = `suspend-${ids.uuid()}`
    if (!knows(agent)) {
      const summary = `No agent named "${agent}" is registered any more. Register it and resume, or cancel.`
      const policy = { handle, reason: 'agent-unknown', summary, atBoundary: true } as const
      await ledger.commit(taskId, { type: 'policy-pause', ...policy })
      return true
    }
    const run = deps.mint(agent)
    if (run === undefined) return false
    try {
      deps.launch(await ledger.commit(taskId, { type: 'start', run, died, maxDeaths, handle }), run)
    } catch (error) {
      deps.free(run)
      if (!isLullError(error, 'TASK_NOT_FOUND')) throw error
    }
    return true
  }

  async function recover(): Promise<void> {
    const seen = new Set<string>()
    for (;;) {
      const page = (await store.orphans(worker, PAGE + seen.size)).filter((id) => !seen.has(id))
      if (page.length === 0) break
      for (const taskId of page) {
        seen.add(taskId)
        const task = await ledger.read(taskId)
        if (task === undefined) continue
        // A pause that was accepted takes effect before anybody can ask.
        if (task.pausing !== undefined && (await start(taskId, task.agent, true))) continue
        const left = orphans.get(task.agent)
        if (left === undefined) orphans.set(task.agent, [taskId])
        else left.push(taskId)
      }
    }
    for (const agent of await store.readyAgents()) ready.add(agent)
    if (seen.size > 0)
      log('info', 'taking over tasks of a process that is gone', { tasks: seen.size })
    for (const agent of new Set([...orphans.keys(), ...ready])) pump(agent)
  }

  return {
    enlist,
    pump,
    waiting,
    recover,
    stop: () => {
      stopped = true
    },
  }
}
