/**
 * Which tasks run in this process. This file puts the parts together; each part is one file of `runs/`.
 *
 *   presence   one phase per task, and the moves between phases
 *   slots      how many tasks of an agent run at the same time
 *   launching  commands that may set a task going      freezing   commands that may stop it
 *   building   a frame, fresh or from the journal      warm       frames that are kept for a while
 *   child-waits  runs that wait for children           draining   handing on every task
 *   backlog    tasks that wait for a slot              takeover   tasks a dead process left
 *
 * Invariants (runs.test.ts; more in the parts):
 *  N1  at most one live run per task, and it holds the token in the task's log;
 *  N2  a task that could run and has no run is in the store's `ready` list: nothing waits in memory only;
 *  N3  warm or cold, a task goes on with the same records.
 */
import type { LogRecord } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdSource } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Memory } from '../ports/memory.ts'
import type { TaskStore } from '../ports/store/tasks.ts'
import type { Agent } from './agent.ts'
import type { Past } from './conversation.ts'
import type { ReadableWork } from './ledger/readable-work.ts'
import type { Ledger } from './ledger.ts'
import type { RunHost } from './run/host.ts'
import type { Run } from './run/run.ts'
import { createBacklog } from './runs/backlog.ts'
import { createBuilder } from './runs/building.ts'
import { type ChildWaits, createChildWaits } from './runs/child-waits.ts'
import { drainRuns } from './runs/draining.ts'
import { type CommitStop, createCommitStop } from './runs/freezing.ts'
import { createLaunching, type Launching } from './runs/launching.ts'
import { createPresences, type Move, type Presence } from './runs/presence.ts'
import { createSlots } from './runs/slots.ts'
import { createStartTask, recover } from './runs/takeover.ts'
import { createWarm } from './runs/warm.ts'

export interface Runs
  extends Pick<Launching, 'commit' | 'create'>,
    Pick<ChildWaits, 'releaseSlot' | 'reacquireSlot' | 'childEnded'> {
  /**
   * Commits a command that may stop the task. `atBoundary` tells the command whether the task stands still now; if it
   * does, nothing of the task starts until the command is written or refused.
   */
  readonly commitStop: CommitStop
  /** Called for every published write, in log order per task. */
  observe(task: Task, records: readonly LogRecord[]): void
  /** Takes over what dead processes left and what waits for a slot. */
  recover(): Promise<void>
  /** Lets every run come to a boundary, at most so long, and hands its task on. */
  drain(timeoutMs: number): Promise<void>
  readonly counts: () => { readonly live: number; readonly warm: number; readonly busy: number }
  /** Agents with steps in flight: who may be blocking the loop. */
  readonly suspects: () => readonly string[]
}

export interface RunsDeps {
  readonly store: Pick<TaskStore, 'records'> & ReadableWork
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

/** As many tasks of an agent that is gone are stopped at once. */
const ROOM_FOR_UNKNOWN = 256

export function createRuns(deps: RunsDeps): Runs {
  const { ledger, clock, agents, worker } = deps
  let stopping = false
  const shared = { ...deps, draining: () => stopping, knows: (name: string) => agents.has(name) }
  const { knows } = shared

  const slots = createSlots(
    (name) => agents.get(name)?.concurrency ?? deps.concurrency,
    (name) => backlog.pull(name),
  )
  const warm = createWarm(clock, deps.memory, deps, (taskId) => childWaits.evict(taskId))
  const presences = createPresences(slots, warm)
  const builder = createBuilder({
    ...shared,
    presences,
    owner: { again: (task) => launching.continueAs(task), lost: leave },
  })
  const takeover = { ...shared, launching: () => launching }
  const start = createStartTask(takeover)
  const room = (name: string): number => (knows(name) ? slots.available(name) : ROOM_FOR_UNKNOWN)
  const backlog = createBacklog({ ...shared, room, start })
  const queued = backlog.waiting
  const launching = createLaunching({ ...shared, slots, presences, builder, queued })
  const childWaits = createChildWaits({ ...shared, slots, presences, builder })

  function leave(taskId: string): void {
    const presence = presences.get(taskId)
    if (presence !== undefined) presences.move(presence, 'leave')
  }

  function observe(task: Task, records: readonly LogRecord[]): void {
    const presence = presences.get(task.id)
    if (presence !== undefined) follow(presence, task, records)
    if (waitsForSlot(task)) backlog.addReady(task.agent)
  }

  function follow(presence: Presence, task: Task, records: readonly LogRecord[]): void {
    const { run, building } = presence
    run?.observe(records, task)
    if (building !== undefined) {
      building.task = task
      building.records.push(...records)
    }
    if (presence.phase === 'warm' || task.run?.token !== presence.token) {
      presences.move(presence, afterStop(presence, task))
    }
  }

  /** The task has no run, or not the one that is here. */
  function afterStop({ run }: Presence, task: Task): Move {
    if (isTerminal(task.state) || run === undefined || run.dead) return 'leave'
    if (task.run !== undefined && task.run.worker !== worker) {
      run.discard('taken-over')
      return 'leave'
    }
    // Handed on by a process that stops, which gives up the frame itself.
    return task.state === 'working' && task.run === undefined && stopping ? 'leave' : 'stop'
  }

  return {
    commit: launching.commit,
    create: launching.create,
    commitStop: createCommitStop(ledger, presences),
    releaseSlot: childWaits.releaseSlot,
    reacquireSlot: childWaits.reacquireSlot,
    childEnded: childWaits.childEnded,
    observe,
    recover: () => recover(takeover, backlog, start),
    async drain(timeoutMs) {
      stopping = true
      backlog.stop()
      warm.close()
      await drainRuns({ ledger, clock, presences }, timeoutMs)
    },
    counts: () => ({ live: frames().length, warm: warm.size(), busy: slots.used() }),
    suspects: () => [...new Set(frames().flatMap((run) => (run.steps > 0 ? [run.agent] : [])))],
  }

  function frames(): readonly Run[] {
    return presences.values().flatMap(({ run }) => (run === undefined ? [] : [run]))
  }
}

function waitsForSlot({ state, run, holds }: Task): boolean {
  return (state === 'submitted' || state === 'working') && run === undefined && holds.length === 0
}
