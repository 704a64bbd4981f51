/**
 * The finished operations of a run, by key. The journal is built from the log when a run is rebuilt. Results are handed
 * out in the order of their records (`releaser.ts`), so concurrent branches run in the same order as the first time.
 *
 * A live run adds records to the journal only for the inside of a step that is not settled. An interrupted step runs its
 * function again, and the operations inside it must not be executed twice.
 */

import type { Message } from '../../../core/messages/message.ts'
import type { TranscriptEntry } from '../../../core/messages/transcript.ts'
import type {
  Decision,
  DecisionContent,
  JournalRecord,
  LogRecord,
  RunToken,
} from '../../../core/records.ts'
import type { Wake } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { RunLimits } from '../host.ts'
import { outerSteps } from './keys.ts'
import { nothingUnclaimed, Unclaimed } from './unclaimed.ts'
import { ReminderView, Wakes, type Woken } from './wakes-and-reminders.ts'

/** A finished operation. `seq` is the number of the record that finished it. */
export type Entry = { readonly seq: number } & (
  | { readonly kind: 'record'; readonly record: LogRecord & { readonly key: string } }
  | { readonly kind: 'park'; readonly fingerprint: string; readonly result: Wake }
  | {
      readonly kind: 'ask'
      readonly fingerprint: string
      readonly message: Message
      readonly decision?: Decision
      readonly content?: DecisionContent
    }
)

/** The record of an entry, if it is of that type. */
export function recordOf<T extends JournalRecord['type']>(
  entry: Entry,
  type: T,
): (JournalRecord & { readonly type: T }) | undefined {
  const record = entry.kind === 'record' ? entry.record : undefined
  return record !== undefined && isOfType(record, type) ? record : undefined
}

function isOfType<T extends JournalRecord['type']>(
  record: LogRecord,
  type: T,
): record is LogRecord & JournalRecord & { readonly type: T } {
  return record.type === type
}

/** The recorded attempts of a step that is not settled, and how many of them failed. */
export interface Attempts {
  readonly made: number
  readonly failed: number
  /** The record of the last one. */
  readonly seq: number
}

const none: Attempts = { made: 0, failed: 0, seq: 0 }

/** A class: one instance per run is cheaper than one closure per method and run. Its maps are created when needed. */
export class Journal {
  /** Which wake the code sees. Follows the log also while the run is live. */
  readonly wakes: Wakes
  /** Which reminders the code sees. Follows the log also while the run is live. */
  readonly reminders: ReminderView = new ReminderView()
  /** See `lastDeathIn`. */
  readonly diedAt: number
  /** The number of the record that imported or forked the log. The records before it are of another store or task. */
  readonly pastUpTo: number
  /** The transcript that the run before passed on with `continueAs`. */
  readonly transcript: readonly TranscriptEntry[] = emptyTranscript
  /** Whether the log has operations that the code calls again. */
  readonly isReplayed: boolean
  /** Recorded operations that the rebuilt run has not called yet. */
  readonly unclaimed: Unclaimed
  /** Operations that an operator accepted as new. */
  #accepted: Set<string> | undefined
  /** Operations that changed code does not call any more, as an operator has accepted. */
  #removed: Set<string> | undefined
  #entries: Map<string, Entry> | undefined
  #attempts: Map<string, Attempts> | undefined
  /** The keys of operations inside of each attempt of a step, by its prefix. */
  #inside: Map<string, Set<string>> | undefined
  #kept: Set<string> | undefined
  /** Bytes of the records after `#countFrom`. */
  #bytes = 0
  #countFrom: number | undefined
  #asked: { readonly key: string; readonly fingerprint: string } | undefined

  /** Results of later records are compared with the code, and are not handed out. */
  readonly knownUpTo: number

  /**
   * @param log the records from the last `continued` on, oldest first
   * @param wake the last wake before them
   */
  constructor(
    log: readonly LogRecord[],
    wake?: Wake,
    knownUpTo: number = Number.POSITIVE_INFINITY,
  ) {
    this.wakes = new Wakes(wake)
    this.knownUpTo = knownUpTo
    for (const record of log) {
      this.reminders.follow(record)
      this.#add(record, this.wakes.follow(record))
      if (record.type === 'continued') this.transcript = record.transcript
    }
    this.diedAt = lastDeathIn(log)
    this.pastUpTo = log.findLast(isArrival)?.seq ?? 0
    this.isReplayed = this.#entries !== undefined || this.#attempts !== undefined
    this.unclaimed = this.isReplayed ? new Unclaimed(this.#operations()) : nothingUnclaimed
  }

  /**
   * Counts the records towards the limits of the journal.
   * @returns the limit that is reached, if one is
   */
  count(
    { version, journal: { countFrom } }: Task,
    added: readonly LogRecord[],
    { journalRecords, journalBytes }: Pick<RunLimits, 'journalRecords' | 'journalBytes'>,
  ): string | undefined {
    this.#bytes = (countFrom === this.#countFrom ? this.#bytes : 0) + weightOf(added)
    this.#countFrom = countFrom
    if (version - countFrom >= journalRecords) return `${journalRecords} records`
    return this.#bytes >= journalBytes ? `${journalBytes} bytes` : undefined
  }

  get(key: string): Entry | undefined {
    return this.#entries?.get(key)
  }

  attempts(key: string): Attempts {
    return this.#attempts?.get(key) ?? none
  }

  /** Whether an earlier run has begun the operation, or an operator has accepted it as new. */
  knows(key: string): boolean {
    return this.#accepted?.has(key) || this.attempts(key).made > 0 || this.unclaimed.hasInside(key)
  }

  /** Whether the order of the entry in the log is its order in the code. */
  isInPlace(key: string, entry: Entry): boolean {
    if (this.#accepted?.has(key)) return false
    return (
      entry.kind !== 'record' ||
      !('inserted' in entry.record || entry.record.type === 'turn-started')
    )
  }

  /** The recorded operations that unchanged code calls again, with the numbers of their records. */
  #operations(): Map<string, number> {
    const recorded = new Map<string, number>()
    for (const [key, { seq }] of this.#attempts ?? []) recorded.set(key, seq)
    for (const [key, entry] of this.#entries ?? []) {
      if (entry.kind !== 'record' || isAsked(entry.record)) recorded.set(key, entry.seq)
    }
    for (const key of recorded.keys()) {
      // A step that is finished does not run its function again.
      const isInside = outerSteps(key).some((step) => this.#entries?.has(step.key))
      if (isInside || this.#removed?.has(key)) recorded.delete(key)
    }
    return recorded
  }

  /** Follows the records of a live run. Returns what a `resumed` record woke. */
  follow(record: LogRecord): Woken | undefined {
    this.reminders.follow(record)
    const woken = this.wakes.follow(record)
    if (this.#isKept(record)) this.#add(record, undefined)
    return woken
  }

  /** Keeps the records whose keys have this prefix, until `forget`. */
  keep(prefix: string): void {
    this.#kept ??= new Set()
    this.#kept.add(prefix)
  }

  forget(prefix: string): void {
    this.#kept?.delete(prefix)
    for (const key of this.#inside?.get(prefix) ?? []) {
      this.#entries?.delete(key)
      this.#attempts?.delete(key)
    }
    this.#inside?.delete(prefix)
  }

  #isKept(record: LogRecord): boolean {
    if (this.#kept === undefined || !('key' in record)) return false
    return outerSteps(record.key).some(({ prefix }) => this.#kept?.has(prefix))
  }

  #enter(key: string, entry: Entry): void {
    this.#entries ??= new Map()
    this.#entries.set(key, entry)
    this.#enterInside(key)
  }

  #enterInside(key: string): void {
    for (const { prefix } of outerSteps(key)) {
      this.#inside ??= new Map()
      const keys = this.#inside.get(prefix) ?? new Set()
      this.#inside.set(prefix, keys.add(key))
    }
  }

  #add(record: LogRecord, woken: Woken | undefined): void {
    const { seq } = record
    switch (record.type) {
      case 'continued':
        this.#entries = undefined
        this.#attempts = undefined
        this.#inside = undefined
        this.#accepted = undefined
        this.#removed = undefined
        break
      case 'voided':
        this.#accepted ??= new Set()
        this.#accepted.add(record.key)
        if (record.unclaimed !== undefined) {
          this.#removed ??= new Set()
          this.#removed.add(record.unclaimed)
        }
        this.#entries?.delete(record.key)
        this.#attempts?.delete(record.key)
        break
      case 'attempt': {
        const { failed } = this.attempts(record.key)
        const more = record.outcome === 'failed' ? 1 : 0
        this.#attempts ??= new Map()
        this.#attempts.set(record.key, { made: record.attempt, failed: failed + more, seq })
        this.#enterInside(record.key)
        break
      }
      // The attempt has a record of its own.
      case 'abandoned':
        break
      case 'resumed':
        if (woken?.park !== undefined) {
          const { key, fingerprint } = woken.park
          this.#enter(key, { kind: 'park', seq, fingerprint, result: woken.wake })
        }
        break
      case 'asked':
        this.#asked = record
        break
      case 'answered': {
        if (this.#asked === undefined) break
        const { message, decision, content } = record
        const said = content === undefined ? {} : { content }
        const decided = decision === undefined ? {} : { decision, ...said }
        const { key, fingerprint } = this.#asked
        this.#enter(key, { kind: 'ask', seq, fingerprint, message, ...decided })
        this.#asked = undefined
        break
      }
      default:
        if ('key' in record) this.#enter(record.key, { kind: 'record', seq, record })
    }
  }
}

function isArrival({ type }: LogRecord): boolean {
  return type === 'imported' || type === 'forked'
}

/** Whether the code asks for the operation again. False for records that a run writes about the code. */
function isAsked({ type }: LogRecord): boolean {
  return type !== 'reminders-shown' && type !== 'not-awaited'
}

const emptyTranscript: readonly TranscriptEntry[] = []

/**
 * The number of the record after which a run last ended with operations in flight: its process died, lost its lease, or
 * stopped before they were finished. 0 if there was none. An operation that the code calls before it gets a result
 * recorded after that may have begun already.
 */
function lastDeathIn(log: readonly LogRecord[]): number {
  let last = 0
  let token: string | undefined
  let isRunning = false
  const begin = (seq: number, run: RunToken): void => {
    // A run that is started again under its token has not ended.
    if (isRunning && run.token !== token) last = seq
    isRunning = true
    token = run.token
  }
  for (const record of log) {
    switch (record.type) {
      case 'started':
        begin(record.seq, record.run)
        break
      case 'resumed':
      case 'answered':
        if (record.run !== undefined) begin(record.seq, record.run)
        break
      case 'continued':
        // The same run goes on with a new journal.
        isRunning = true
        break
      case 'paused':
      case 'released':
        if (record.inFlight) last = record.seq
        isRunning = false
        break
      case 'parked':
      case 'asked':
        isRunning = false
        break
      default:
    }
  }
  return last
}
