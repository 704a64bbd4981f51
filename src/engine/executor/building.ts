/**
 * Builds the run of a task: a fresh run from its first records, or one that continues from its
 * journal.
 *
 * N4  A run begins with its task and its log at the same version. Records that are published while the log is read are
 *     kept and added. Every later record reaches the run through `observe`, once.
 */
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import type { Agent } from '../author/agent.ts'
import { noPast, type Past } from '../author/conversation.ts'
import { createAsk } from '../author/providers/provider.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { logOf } from '../ledger/log-of.ts'
import type { RunHost } from '../run/host.ts'
import { Journal } from '../run/replay/journal.ts'
import { Run, type RunDeps } from '../run/run.ts'
import { whenThawed } from './freezing.ts'
import type { Building, Presence, Presences } from './presence.ts'

export interface Builder {
  /** Builds the run of a task in phase `building` and starts it. Retries while the store fails. */
  build(presence: Presence, task: Task | undefined): void
  /**
   * Starts a task whose create is decided and not durable yet. Its code runs up to its first
   * operation.
   */
  beginAhead(presence: Presence, task: Task): void
}

export interface BuilderDeps {
  readonly store: Pick<TaskStore, 'records'>
  readonly ledger: Pick<Ledger, 'read' | 'commit'>
  readonly clock: Clock
  readonly log: Log
  readonly agents: ReadonlyMap<string, Agent>
  readonly host: RunHost
  readonly again: RunDeps['again']
  readonly lost: RunDeps['lost']
  readonly presences: Presences
  readonly pastOf: (task: Task) => Promise<Past>
  readonly draining: () => boolean
}

/** The task and the journal that a run begins with. */
interface Beginning {
  readonly task: Task
  readonly journal: Journal
  readonly past: Past
  readonly ahead: boolean
}

const RETRY_MS = 1_000
/**
 * Up to this version a log can have only `submitted` and `started`, so there is no journal to read.
 */
const FRESH = 2
const noRecords: readonly LogRecord[] = []

export function createBuilder(deps: BuilderDeps): Builder {
  const { store, ledger, clock, log, agents, host, again, lost, presences, draining } = deps
  /** Keyed by the agent object and not by its name, because agents can be replaced. */
  const asks = new WeakMap<Agent, ReturnType<typeof createAsk>>()

  function build(presence: Presence, task: Task | undefined): void {
    const building: Building = { task, records: [] }
    presence.building = building
    attempt(presence, building).catch((error: unknown) => {
      if (!isCurrent(presence, building)) return
      const { taskId } = presence
      log('error', 'a run could not be built; it is tried again', { taskId, error })
      clock.after(RETRY_MS, () => {
        if (isCurrent(presence, building)) build(presence, building.task)
      })
    })
  }

  /**
   * Whether this build still counts: false when the task was stopped or ended, or when another
   * build replaced it.
   */
  function isCurrent(presence: Presence, building: Building): boolean {
    return !draining() && presence.phase === 'building' && presence.building === building
  }

  async function attempt(presence: Presence, building: Building): Promise<void> {
    for (;;) {
      const first = newest(building.task, await known(presence, building))
      if (first === undefined) return lose(presence)
      const read = first.version <= FRESH ? noRecords : await journalOf(store, first)
      const past = await deps.pastOf(first)
      await whenThawed(presence)
      if (!isCurrent(presence, building)) return
      const task = newest(first, building.task)
      if (task.run?.token !== presence.token) return lose(presence)
      if (!agents.has(presence.agent)) return giveBack(ledger, presence)
      const records = upTo(task, first, read, building.records)
      // Another process has written meanwhile, so the log is read again.
      if (records === undefined) continue
      const journal = new Journal(records, task.journal.wake)
      const { countFrom } = task.journal
      const counted = records.filter(({ seq }) => seq > countFrom)
      journal.count(task, counted, host.limits)
      return begin(presence, { task, journal, past, ahead: false })
    }
  }

  function known(presence: Presence, building: Building): Promise<Task | undefined> {
    return building.task === undefined
      ? ledger.read(presence.taskId)
      : Promise.resolve(building.task)
  }

  function lose(presence: Presence): void {
    presences.move(presence, 'leave')
  }

  function begin(presence: Presence, beginning: Beginning): void {
    const agent = agents.get(presence.agent)
    if (agent === undefined) {
      lose(presence)
      return
    }
    const ask = asks.get(agent) ?? createAsk(host, agent)
    asks.set(agent, ask)
    const run = new Run({
      ...{ host, again, lost, agent, token: presence.token, ask },
      ...beginning,
    })
    presence.run = run
    presence.building = undefined
    presences.move(presence, 'begin')
    run.start()
  }

  return {
    build,
    beginAhead: (presence, task) =>
      begin(presence, {
        task,
        journal: new Journal(noRecords),
        past: noPast,
        ahead: true,
      }),
  }
}

/**
 * The agent was removed after the task had started. The task is given up, and treated like any
 * other task of an agent that is not here.
 */
async function giveBack(
  ledger: Pick<Ledger, 'commit'>,
  { taskId, token }: Presence,
): Promise<void> {
  const reason = 'its agent is not registered any more'
  await ledger.commit(taskId, { type: 'release', run: token, reason })
}

async function journalOf(
  store: Pick<TaskStore, 'records'>,
  task: Task,
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = []
  // The `continued` record contains the transcript, so it is read too.
  const after = Math.max(0, task.journal.afterSeq - 1)
  for await (const record of logOf(store, task, after)) records.push(record)
  return records
}

function newest<T extends Task | undefined>(known: T, published: Task | undefined): T | Task {
  if (published === undefined) return known
  return known === undefined || published.version > known.version ? published : known
}

/**
 * The log up to the version of `task`: the records that were read, then those published meanwhile.
 * Undefined if a record between them is missing.
 */
export function upTo(
  { version }: Task,
  first: Task,
  read: readonly LogRecord[],
  published: readonly LogRecord[],
): readonly LogRecord[] | undefined {
  const records = read.filter(({ seq }) => seq <= version)
  let last = Math.max(records.at(-1)?.seq ?? 0, records.length === 0 ? first.version : 0)
  for (const record of published) {
    if (record.seq <= last) continue
    if (record.seq !== last + 1) return undefined
    records.push(record)
    last = record.seq
  }
  return last === version ? records : undefined
}
