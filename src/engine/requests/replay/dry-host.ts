/**
 * The engine as a run sees it that must have no effect. Nothing is stored, no function of a step runs, and no child is
 * created or asked. An operation that would have an effect is reported and never settles.
 *
 * D1  Only outputs that stand before recorded operations of the code are decided, on a copy of the task in memory, so that
 *     the code can go on to what is recorded. Everything else that is new ends the replay of its branch.
 */
import type { Command, CommandType } from '../../../core/commands.ts'
import type { JournalRecord } from '../../../core/records.ts'
import type { PolicyReason } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { IdSource } from '../../../ports/ids.ts'
import type { Log } from '../../../ports/log.ts'
import { noTracing } from '../../../ports/tracing.ts'
import type { Committed, LazyCommand } from '../../ledger/ledger.ts'
import type { ChildHost, RunHost } from '../../run/host.ts'
import type { Journal } from '../../run/replay/journal.ts'
import { neverSettles } from '../../run/run-writer.ts'
import { createLiveTexts } from '../../streams/live-texts.ts'
import { fireAt } from '../../wakes/fire-at.ts'
import { applied } from './working-copy.ts'

/** What the run wants to do. */
export interface DryEvents {
  /** The code called something that the journal does not have. */
  readonly reached: (key: string) => void
  readonly stopped: (stop: PolicyStop) => void
  readonly ended: (command: EndCommand) => void
  /** The code moved on. */
  readonly moved: () => void
  /** The copy of the task has changed. */
  readonly wrote: (committed: Committed) => void
}

export type PolicyStop = Command & { readonly type: 'policy-pause' }

export type EndCommand = Command & {
  readonly type: 'complete' | 'fail' | 'reject' | 'continue-as'
}

export interface DryHostDeps {
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly journal: Journal
  readonly task: Task
  readonly events: DryEvents
}

const unlimited = Number.POSITIVE_INFINITY
const reportedReason: PolicyReason = 'code-changed'

/** Without a limit of blocked time each reaction of the code is reported. */
const limits: RunHost['limits'] = {
  stepResultBytes: unlimited,
  journalRecords: unlimited,
  journalBytes: unlimited,
  pendingReminders: unlimited,
  abandonAfterMs: 0,
  blockMs: 0,
}

export function createDryHost(deps: DryHostDeps): RunHost {
  const { clock, ids, log, journal, events } = deps
  let { task } = deps

  function write(command: Command): Promise<Committed> {
    const { task: next, records } = applied(task, command)
    task = next
    const committed = { task, records, laterRecords: [], latest: task }
    events.wrote(committed)
    return Promise.resolve(committed)
  }

  /** An output of the code: written to the copy while recorded operations are still to come (D1). */
  const output = (command: Command, key: string): Promise<Committed> => {
    if (!journal.unclaimed.isEmpty) return write(command)
    return reach(key)
  }

  function reach(key: string): Promise<never> {
    events.reached(key)
    return neverSettles()
  }

  function end(command: EndCommand): Promise<never> {
    events.ended(command)
    return neverSettles()
  }

  const commits: Partial<{
    readonly [T in CommandType]: (command: Command & { readonly type: T }) => Promise<Committed>
  }> = {
    record(command) {
      const last = command.records.at(-1)
      if (last === undefined || last.type === 'value') return write(command)
      return isOutput[last.type] ? output(command, last.key) : reach(last.key)
    },
    'start-turn': (command) => output(command, command.key),
    'show-reminders': write,
    park: ({ key }) => reach(key),
    ask: ({ key }) => reach(key),
    complete: end,
    fail: end,
    reject: end,
    'continue-as': end,
    'policy-pause'(command) {
      if (command.reason === reportedReason) events.stopped(command)
      return neverSettles()
    },
  }

  return {
    clock,
    ids,
    log,
    tracing: noTracing,
    live: createLiveTexts(),
    limits,
    commit(_taskId, lazy: LazyCommand) {
      events.moved()
      const command = typeof lazy === 'function' ? lazy(task) : lazy
      const decide = commits[command.type] as ((command: Command) => Promise<Committed>) | undefined
      return decide?.(command) ?? neverSettles()
    },
    async *records() {},
    fireAt: (conditions) => fireAt(conditions, clock.now()),
    eventsNow: async () => 0,
    lastEventPos: () => 0,
    releaseSlot: () => false,
    reacquireSlot: async () => undefined,
    running: () => undefined,
    blocked: events.moved,
    checkBudgets: () => undefined,
    mayExecute: reach,
    children: noChildren(reach),
  }
}

/** Records that only the task itself and its readers see. */
const isOutput: Readonly<Record<JournalRecord['type'], boolean>> = {
  said: true,
  artifact: true,
  usage: true,
  'turn-ended': true,
  compacted: true,

  step: false,
  value: false,
  attempt: false,
  abandoned: false,
  'not-awaited': false,
  skipped: false,
  delegated: false,
  'child-ended': false,
  'child-called': false,
}

/** Children are neither created nor asked. */
function noChildren(reach: (key: string) => Promise<never>): ChildHost {
  const call = (name: string) => (_parent: Task, childId: string) =>
    reach(`child-${name}:${childId}#1`)
  return {
    check: () => undefined,
    admit: () => undefined,
    create: async () => undefined,
    get: call('get'),
    // The run asks for the result first, which is reported.
    async *watch() {},
    arrived: async () => undefined,
    result: (_parent, childId) => reach(`child-result:${childId}#1`),
    ended: (_parent, childId) => reach(`child-result:${childId}#1`),
    pause: call('pause'),
    resume: call('resume'),
    cancel: call('cancel'),
    remind: call('remind'),
  }
}
