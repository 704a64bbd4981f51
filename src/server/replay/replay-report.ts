/** Builds the report of `lull replay`, for one task or for all open tasks, and reads tasks without a running server. */

import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { LullError } from '../../core/errors.ts'
import { isPaused, isTerminal, states } from '../../core/states.ts'
import type { Agent } from '../../engine/author/agent.ts'
import type { Caller } from '../../engine/caller.ts'
import { createEngine } from '../../engine/engine.ts'
import { checkRecorded, type RecordedCheck } from '../../engine/requests/replay/check-recorded.ts'
import { pastOf, type RecordedTask } from '../../engine/requests/replay/recorded-task.ts'
import {
  type AgentsReplay,
  type RecordedLog,
  replayAgents,
} from '../../engine/requests/replay/replay-agents.ts'
import { timelineOf } from '../../protocols/ops/timeline.ts'
import type { TaskLog } from '../../wire/ops/logs.ts'
import type { TimelineEntry } from '../../wire/ops/tasks.ts'
import { type GivenSettings, readSettings } from '../settings/settings.ts'
import { chooseStore, openReader, openStore } from '../store/open-store.ts'
import { systemClock } from '../system/clock.ts'
import { createIds } from '../system/ids.ts'
import { systemMemory } from '../system/memory.ts'
import { createSigner, knownSigner } from '../system/signer.ts'

export type { AgentsReplay, TaskReplay } from '../../engine/requests/replay/replay-agents.ts'

export interface ReplayReport extends RecordedCheck {
  readonly taskId: string
  readonly agent: string
  readonly state: string
  /** Whether the log folds to exactly the state that is shown, and every receipt is genuine. */
  readonly ok: boolean
  readonly timeline: readonly TimelineEntry[]
}

export function replayReport(recorded: RecordedTask): ReplayReport {
  const { id: taskId, agent, state } = recorded.task
  const check = checkRecorded(recorded)
  const ok = check.faults.length + check.differences.length === 0
  return { taskId, agent, state, ok, ...check, timeline: timelineOf(recorded.records) }
}

const LONG_MS = 60_000
const openStates = states.filter((state) => !isTerminal(state))

/** Runs the code of the agents against the logs of all open tasks. */
export async function replayOpenTasks(
  source: TaskSource,
  agents: readonly Agent[],
  parked: boolean,
): Promise<AgentsReplay> {
  const logs = async function* (): AsyncGenerator<RecordedLog> {
    const wanted = parked ? openStates.filter(isPaused) : openStates
    for await (const taskId of source.ids(wanted)) {
      const recorded = await source.recorded(taskId)
      yield { records: recorded.records, past: pastOf(recorded) }
    }
  }
  const deps = { clock: systemClock, ids: createIds(), log: () => undefined }
  // Keeps the process alive during the replay, because the timers of the engine do not.
  const alive = setInterval(() => undefined, LONG_MS)
  return replayAgents({ agents, logs: logs(), parked }, deps).finally(() => clearInterval(alive))
}

/**
 * Converts the answer of a server. Records of a newer version are detected when they are folded.
 */
export function recordedIn(log: TaskLog): RecordedTask {
  return log as TaskLog & RecordedTask
}

/** The source of recorded tasks. */
export interface TaskSource {
  /** @throws LullError `TASK_NOT_FOUND` */
  recorded(taskId: string): Promise<RecordedTask>
  /** Ids of the tasks in the given states, latest change first. Default: all tasks. */
  ids(wanted?: readonly string[]): AsyncIterable<string>
}

const reader: Caller = { tenant: '*', principal: 'replay', operator: true }
const PAGE = 100

/**
 * Reads the tasks of a data directory or a database without a running server. No task is started
 * and nothing is written: no migration and no key. So a new version can check the data of the
 * running one.
 *
 * @param migrates whether to migrate an older schema first; only for a copy
 * @throws LullError `STORE_LOCKED` while a server uses the data directory, `STORE_UNAVAILABLE`,
 * also for an older schema
 */
export async function withStoredTasks<T>(
  given: GivenSettings,
  migrates: boolean,
  work: (tasks: TaskSource) => Promise<T>,
): Promise<T> {
  const settings = readSettings(given)
  const { data, stores } = settings
  const choice = chooseStore(stores, data)
  // Checked first, because opening an empty directory would create a store in it.
  if (choice.kind === 'sqlite' && !isFilled(join(data, 'lull.db'))) {
    const why = `there is no lull.db in ${data}, or it is empty; give the data directory that keeps the tasks`
    throw new LullError('STORE_UNAVAILABLE', { why })
  }
  const store = await (migrates ? openStore(choice, () => undefined) : openReader(choice))
  try {
    const known = await knownSigner({ data, store }, settings)
    const engine = createEngine({
      store,
      agents: [],
      clock: systemClock,
      ids: createIds(),
      signer: known ?? createSigner(randomBytes(32)),
      log: () => undefined,
      memory: systemMemory,
    })
    return await work({
      async recorded(taskId) {
        const recorded = await engine.recorded(reader, taskId)
        return known === undefined ? withoutKey(recorded) : recorded
      },
      async *ids(wanted) {
        const filter =
          wanted === undefined ? {} : { states: states.filter((one) => wanted.includes(one)) }
        let cursor: string | undefined
        do {
          const page = await engine.list(reader, {
            ...filter,
            limit: PAGE,
            ...(cursor === undefined ? {} : { cursor }),
          })
          for (const { id } of page.tasks) yield id
          cursor = page.cursor
        } while (cursor !== undefined)
      },
    })
  } finally {
    await store.close()
  }
}

/** If no key is known, reports this once instead of for each receipt. */
function withoutKey(recorded: RecordedTask): RecordedTask {
  const [unchecked] = recorded.faults.filter(({ unknownKey }) => unknownKey !== undefined)
  if (unchecked === undefined) return recorded
  const faults = recorded.faults.filter(({ unknownKey }) => unknownKey === undefined)
  const problem =
    'the signatures of the receipts cannot be checked, because there is no receipt.key; ' +
    'copy it into the data directory, or give the key as LULL_RECEIPT_KEY'
  return { ...recorded, faults: [...faults, { ...unchecked, problem }] }
}

function isFilled(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}
