/**
 * What a run did before, by key. Built from the log when a run is rebuilt; answers come out in the order in which they
 * were recorded (`releaser.ts`), so concurrent branches meet the same occurrences as the first time.
 */
import type { Message } from '../../core/message.ts'
import type { Decision, LogRecord } from '../../core/records.ts'
import { type Suspension, type Wake, wakeOf } from '../../core/suspension.ts'
import type { TranscriptEntry } from '../../core/transcript.ts'

/** A finished operation. `seq` is the record that finished it; `wake` the last wake before the next one was finished. */
export type Entry = { readonly seq: number; wake: Wake | undefined } & (
  | { readonly kind: 'record'; readonly record: LogRecord & { readonly key: string } }
  | { readonly kind: 'park'; readonly fingerprint: string; readonly result: Wake }
  | {
      readonly kind: 'ask'
      readonly fingerprint: string
      readonly message: Message
      readonly decision?: Decision
    }
)

export interface Journal {
  readonly get: (key: string) => Entry | undefined
  /** Attempts of a step that were recorded without settling it. */
  readonly attempts: (key: string) => number
  readonly size: number
  /** The transcript `continueAs` handed over. */
  readonly transcript: readonly TranscriptEntry[]
}

export const emptyJournal: Journal = {
  get: () => undefined,
  attempts: () => 0,
  size: 0,
  transcript: [],
}

/** @param log the records from the last `continued` on, oldest first */
export function readJournal(log: readonly LogRecord[]): Journal {
  const entries = new Map<string, Entry>()
  const attempts = new Map<string, number>()
  let transcript: readonly TranscriptEntry[] = []
  let stopped: Suspension | undefined
  let parked: { readonly key: string; readonly fingerprint: string } | undefined
  let asked: { readonly key: string; readonly fingerprint: string } | undefined
  let wake: Wake | undefined
  let last: Entry | undefined

  function finish(key: string, entry: Entry): void {
    entries.set(key, entry)
    last = entry
  }

  for (const record of log) {
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
      case 'attempt':
        attempts.set(record.key, record.attempt)
        break
      case 'pause-requested':
        stopped = record.suspension
        break
      case 'paused':
        stopped = stopped && { ...stopped, pausedAt: record.at }
        break
      case 'parked':
        stopped = record.suspension
        parked = { key: record.suspension.key ?? '', fingerprint: record.fingerprint }
        break
      case 'resumed':
        if (stopped === undefined) break
        wake = wakeOf(stopped, record)
        // The result before the stop was withheld, so the code behind it saw this wake.
        if (last !== undefined) last.wake = wake
        if (parked !== undefined)
          finish(parked.key, { kind: 'park', seq, wake, ...parked, result: wake })
        stopped = parked = undefined
        break
      case 'asked':
        asked = record
        break
      case 'answered': {
        if (asked === undefined) break
        const { message, decision } = record
        const decided = decision === undefined ? {} : { decision }
        finish(asked.key, {
          kind: 'ask',
          seq,
          wake,
          fingerprint: asked.fingerprint,
          message,
          ...decided,
        })
        asked = undefined
        break
      }
      default:
        if ('key' in record) finish(record.key, { kind: 'record', seq, wake, record })
    }
  }
  return {
    get: (key) => entries.get(key),
    attempts: (key) => attempts.get(key) ?? 0,
    size: entries.size,
    transcript,
  }
}
