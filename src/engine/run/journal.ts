/**
 * What a run did before, by key. Built from the log when a run is rebuilt; answers come out in the order in which they
 * were recorded (`releaser.ts`), so concurrent branches meet the same occurrences as the first time.
 *
 * A live run needs no journal of what it does, with one exception: a step that is interrupted runs its function again,
 * and what happened inside it must not happen twice. So records are kept while the step they lie in is not settled.
 */
import type { Message } from '../../core/message.ts'
import type { Decision, LogRecord } from '../../core/records.ts'
import type { Wake } from '../../core/suspension.ts'
import type { TranscriptEntry } from '../../core/transcript.ts'
import { createReminderView, type ReminderView } from './reminder-view.ts'
import { createWakes, type Wakes, type Woken } from './wakes.ts'

/** A finished operation. `seq` is the record that finished it. */
export type Entry = { readonly seq: number } & (
  | { readonly kind: 'record'; readonly record: LogRecord & { readonly key: string } }
  | { readonly kind: 'park'; readonly fingerprint: string; readonly result: Wake }
  | {
      readonly kind: 'ask'
      readonly fingerprint: string
      readonly message: Message
      readonly decision?: Decision
    }
)

/** Attempts of a step that were recorded without settling it, and how many of them failed. */
export interface Attempts {
  readonly made: number
  readonly failed: number
}

export interface Journal {
  readonly get: (key: string) => Entry | undefined
  readonly attempts: (key: string) => Attempts
  /** The transcript `continueAs` handed over. */
  readonly transcript: readonly TranscriptEntry[]
  /** What the code saw of its wakes; goes on with the live run. */
  readonly wakes: Wakes
  /** What it sees of its reminders; goes on likewise. */
  readonly reminders: ReminderView
  /** Follows what is written while the run is live. What a `resumed` record woke. */
  follow(record: LogRecord): Woken | undefined
  /** Keeps what is recorded under the prefix, until `forget`. */
  keep(prefix: string): void
  forget(prefix: string): void
}

const none: Attempts = { made: 0, failed: 0 }

/**
 * @param log the records from the last `continued` on, oldest first
 * @param wake the last one before them
 */
export function readJournal(log: readonly LogRecord[], wake?: Wake): Journal {
  const entries = new Map<string, Entry>()
  const attempts = new Map<string, Attempts>()
  const kept = new Set<string>()
  const wakes = createWakes(wake)
  const reminders = createReminderView()
  let transcript: readonly TranscriptEntry[] = []
  let asked: { readonly key: string; readonly fingerprint: string } | undefined

  function add(record: LogRecord, woken: Woken | undefined): void {
    const { seq } = record
    switch (record.type) {
      case 'continued':
        entries.clear()
        attempts.clear()
        transcript = record.transcript
        break
      case 'voided':
        entries.delete(record.key)
        attempts.delete(record.key)
        break
      case 'attempt': {
        const { failed } = attempts.get(record.key) ?? none
        const more = record.outcome === 'failed' ? 1 : 0
        attempts.set(record.key, { made: record.attempt, failed: failed + more })
        break
      }
      case 'resumed':
        if (woken?.park !== undefined) {
          const { key, fingerprint } = woken.park
          entries.set(key, { kind: 'park', seq, fingerprint, result: woken.wake })
        }
        break
      case 'asked':
        asked = record
        break
      case 'answered': {
        if (asked === undefined) break
        const { message, decision } = record
        const decided = decision === undefined ? {} : { decision }
        const { key, fingerprint } = asked
        entries.set(key, { kind: 'ask', seq, fingerprint, message, ...decided })
        asked = undefined
        break
      }
      default:
        if ('key' in record) entries.set(record.key, { kind: 'record', seq, record })
    }
  }

  function isKept(record: LogRecord): boolean {
    if (kept.size === 0 || !('key' in record)) return false
    for (const prefix of kept) if (record.key.startsWith(prefix)) return true
    return false
  }

  for (const record of log) {
    reminders.follow(record)
    add(record, wakes.follow(record))
  }

  return {
    get: (key) => entries.get(key),
    attempts: (key) => attempts.get(key) ?? none,
    transcript,
    wakes,
    reminders,
    follow(record) {
      reminders.follow(record)
      const woken = wakes.follow(record)
      if (isKept(record)) add(record, undefined)
      return woken
    },
    keep: (prefix) => {
      kept.add(prefix)
    },
    forget(prefix) {
      kept.delete(prefix)
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key)
      for (const key of attempts.keys()) if (key.startsWith(prefix)) attempts.delete(key)
    },
  }
}
