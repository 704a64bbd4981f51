/**
 * Which wake the code of a run sees, and from when on. The code may decide by it, so live and rebuilt runs must agree:
 * both fold the same records here.
 *
 * W1  The code behind a result sees the last wake before the record of that result.
 * W2  After somebody else's pause, the code behind the last result before it sees the new wake already: that result was
 *     withheld, or its code waits at its next operation. (Code that has looked before is rebuilt: `run.ts`.)
 * W3  Input that came with taking a pause back is a wake too, under W1 alone: nothing was stopped, and what is in flight
 *     is recorded after it.
 */
import type { LogRecord } from '../../core/records.ts'
import { type Suspension, type Wake, wakeOf } from '../../core/suspension.ts'

export interface Woken {
  readonly wake: Wake
  /** The park that ended; absent after a pause. */
  readonly park?: { readonly key: string; readonly fingerprint: string }
}

export interface Wakes {
  /** Follows the log, in order. What a `resumed` record woke. */
  follow(record: LogRecord): Woken | undefined
  /** The result is handed out: what the code behind it sees. */
  show(seq: number): void
  /** What the code sees now. */
  look(): Wake | undefined
  /** Whether the code has looked since the last result, which a pause would change in its back. */
  readonly looked: () => boolean
}

/** @param first what a run sees that has no results yet */
export function createWakes(first?: Wake): Wakes {
  /** By the record of the result, until it is handed out; 0 is the beginning of the code. */
  const behind = new Map<number, Wake | undefined>([[0, first]])
  let last = 0
  let latest = first
  let seen = first
  let looked = false
  let stopped: Suspension | undefined
  let park: Woken['park']

  function finished(seq: number): void {
    behind.set(seq, latest)
    last = seq
  }

  function resumed(record: LogRecord & { readonly type: 'resumed' }): Woken | undefined {
    if (stopped === undefined) return undefined
    const wake = wakeOf(stopped, record)
    const ended = park
    latest = wake
    stopped = park = undefined
    if (ended !== undefined) {
      finished(record.seq)
      return { wake, park: ended }
    }
    if (behind.has(last)) behind.set(last, wake)
    else seen = wake
    return { wake }
  }

  function withdrawn(record: LogRecord & { readonly type: 'pause-withdrawn' }): void {
    const { input } = record
    if (stopped !== undefined && input !== undefined) {
      latest = wakeOf(stopped, { ...record, input, continueTranscript: true })
    }
    stopped = undefined
  }

  return {
    follow(record) {
      switch (record.type) {
        case 'pause-requested':
          stopped = record.suspension
          return undefined
        case 'paused':
          stopped = stopped && { ...stopped, pausedAt: record.at }
          return undefined
        case 'parked':
          stopped = record.suspension
          park = { key: record.suspension.key ?? '', fingerprint: record.fingerprint }
          return undefined
        case 'pause-withdrawn':
          withdrawn(record)
          return undefined
        case 'resumed':
          return resumed(record)
        default:
          if (isResult(record)) finished(record.seq)
          return undefined
      }
    },
    show(seq) {
      if (!behind.has(seq)) return
      seen = behind.get(seq)
      behind.delete(seq)
      looked = false
    },
    look() {
      looked = true
      return seen
    },
    looked: () => looked && !behind.has(last),
  }
}

/** Records that are handed to the code as results; values and rereadings are taken without waiting. */
function isResult(record: LogRecord): boolean {
  if (record.type === 'answered') return true
  return 'key' in record && !silent.has(record.type)
}

const silent: ReadonlySet<LogRecord['type']> = new Set([
  'attempt',
  'value',
  'reminders-shown',
  'asked',
  'voided',
  'continued',
])
