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

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Wakes {
  /** By the record of the result, until it is handed out. What the beginning of the code sees is just `seen`. */
  #behind: Map<number, Wake | undefined> | undefined
  #last = 0
  #latest: Wake | undefined
  #seen: Wake | undefined
  #looked = false
  #stopped: Suspension | undefined
  #park: Woken['park']

  /** @param first what a run sees that has no results yet */
  constructor(first?: Wake) {
    this.#latest = first
    this.#seen = first
  }

  /** Follows the log, in order. What a `resumed` record woke. */
  follow(record: LogRecord): Woken | undefined {
    switch (record.type) {
      case 'pause-requested':
        this.#stopped = record.suspension
        return undefined
      case 'paused':
        this.#stopped = this.#stopped && { ...this.#stopped, pausedAt: record.at }
        return undefined
      case 'parked':
        this.#stopped = record.suspension
        this.#park = { key: record.suspension.key ?? '', fingerprint: record.fingerprint }
        return undefined
      case 'pause-withdrawn':
        this.#withdrawn(record)
        return undefined
      case 'resumed':
        return this.#resumed(record)
      default:
        if (isResult(record)) this.#finished(record.seq)
        return undefined
    }
  }

  /** The result is handed out: what the code behind it sees. */
  show(seq: number): void {
    if (this.#behind === undefined || !this.#behind.has(seq)) return
    this.#seen = this.#behind.get(seq)
    this.#behind.delete(seq)
    this.#looked = false
  }

  /** What the code sees now. */
  look(): Wake | undefined {
    this.#looked = true
    return this.#seen
  }

  /** Whether the code has looked since the last result, which a pause would change in its back. */
  looked(): boolean {
    return this.#looked && !this.#isBehind(this.#last)
  }

  #isBehind(seq: number): boolean {
    return this.#behind?.has(seq) ?? false
  }

  #finished(seq: number): void {
    this.#behind ??= new Map()
    this.#behind.set(seq, this.#latest)
    this.#last = seq
  }

  #resumed(record: LogRecord & { readonly type: 'resumed' }): Woken | undefined {
    if (this.#stopped === undefined) return undefined
    const wake = wakeOf(this.#stopped, record)
    const ended = this.#park
    this.#latest = wake
    this.#stopped = this.#park = undefined
    if (ended !== undefined) {
      this.#finished(record.seq)
      return { wake, park: ended }
    }
    if (this.#isBehind(this.#last)) this.#behind?.set(this.#last, wake)
    else this.#seen = wake
    return { wake }
  }

  #withdrawn(record: LogRecord & { readonly type: 'pause-withdrawn' }): void {
    const { input } = record
    if (this.#stopped !== undefined && input !== undefined) {
      this.#latest = wakeOf(this.#stopped, { ...record, input, continueTranscript: true })
    }
    this.#stopped = undefined
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
