/**
 * Which wake the code of a run sees, and which reminders the code of a turn sees when it reads them again. The code may
 * branch on them, so live and rebuilt runs must see the same at the same point. Both fold the same records here.
 *
 * W1  The code after a result sees the last wake before the record of that result.
 * W2  After a pause, the code after the last result before the pause sees the new wake: the result was withheld, or the code
 *     waits at its next operation. If the code has read the old wake already, the run is rebuilt (`run.ts`).
 * W3  The input of a resume that withdraws a pause is a wake too, and follows W1 only: nothing was stopped, and operations in
 *     flight are recorded after it.
 * V1  The code after a result sees the reminders that were pending when that result was recorded. Reminders that arrived
 *     during a step or batch are seen after it. Those that were cleared or replaced meanwhile are not.
 * V2  A reminder that waits for the completion of the turn is not seen within the turn.
 */

import type { LogRecord } from '../../../core/records.ts'
import { isVisible, type Reminder } from '../../../core/reminders/reminders.ts'
import { type Suspension, type Wake, wakeOf } from '../../../core/suspension.ts'

export interface Woken {
  readonly wake: Wake
  /** The park that ended. Absent after a pause. */
  readonly park?: { readonly key: string; readonly fingerprint: string }
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class Wakes {
  /**
   * The wake that the code after a result sees, by the number of the result's record, until the result is handed out.
   */
  #behind: Map<number, Wake | undefined> | undefined
  #last = 0
  #latest: Wake | undefined
  #seen: Wake | undefined
  #looked = false
  #stopped: Suspension | undefined
  #park: Woken['park']

  /** @param first the wake that the code sees before its first result */
  constructor(first?: Wake) {
    this.#latest = first
    this.#seen = first
  }

  /** Follows the log, in order. Returns what a `resumed` record woke. */
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

  /** The result is handed out. The code after it sees its wake from now on. */
  show(seq: number): void {
    if (this.#behind === undefined || !this.#behind.has(seq)) return
    this.#seen = this.#behind.get(seq)
    this.#behind.delete(seq)
    this.#looked = false
  }

  /** The wake that the code sees now. */
  look(): Wake | undefined {
    this.#looked = true
    return this.#seen
  }

  /** Whether the code has read its wake since the last result. A pause would then change a value that was read. */
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

/** Whether the record is handed to the code as a result. Values and repeated reads are returned without waiting. */
function isResult(record: LogRecord): boolean {
  if (record.type === 'answered') return true
  return 'key' in record && handedOut[record.type]
}

const handedOut: Readonly<Record<Extract<LogRecord, { readonly key: unknown }>['type'], boolean>> =
  {
    step: true,
    abandoned: true,
    'not-awaited': true,
    skipped: true,
    said: true,
    artifact: true,
    usage: true,
    'turn-started': true,
    'turn-ended': true,
    compacted: true,
    delegated: true,
    'child-called': true,
    'child-ended': true,

    attempt: false,
    value: false,
    'reminders-shown': false,
    asked: false,
    voided: false,
    continued: false,
  }

type TurnStarted = LogRecord & { readonly type: 'turn-started' }

interface Change {
  /** The number of the record that the change takes effect with. */
  readonly seq: number
  readonly added?: Reminder
  readonly removed?: readonly string[]
}

interface OpenTurn {
  readonly changes: Change[]
  /** Ids that are recorded as shown in the turn, or are being recorded. */
  readonly shown: Set<string>
  /** The end of the turn is in the log. Later changes do not affect it. */
  ended: boolean
}

/** A class: one instance per run is cheaper than one closure per method and run. */
export class ReminderView {
  /** The turns whose code has not ended. */
  #turns: Map<number, OpenTurn> | undefined
  #lastKeyed = 0

  /** Follows the log, in order. */
  follow(record: LogRecord): void {
    if ('key' in record) this.#lastKeyed = record.seq
    switch (record.type) {
      case 'turn-started': {
        const shown = new Set(record.reminders.map(({ id }) => id))
        this.#turns ??= new Map()
        this.#turns.set(record.turn, { changes: [], shown, ended: false })
        break
      }
      case 'turn-ended': {
        const ended = this.#turns?.get(record.turn)
        if (ended !== undefined) ended.ended = true
        break
      }
      case 'reminders-shown':
        for (const { id } of record.reminders) this.#turns?.get(record.turn)?.shown.add(id)
        break
      case 'reminder-injected':
        this.#change({ seq: record.seq, added: record.reminder })
        break
      case 'reminder-deduped':
        this.#change({ seq: record.seq, removed: record.ids })
        break
      case 'reminder-expired': {
        // An expiry by the end of a turn or by a compaction takes effect with the record of that.
        const isConsequence = record.reason === 'ttl' || record.reason === 'compaction'
        this.#change({ seq: isConsequence ? this.#lastKeyed : record.seq, removed: record.ids })
        break
      }
      default:
    }
  }

  /** The reminders that the turn sees after the result of that record; `fresh` are those that it has not seen before. */
  read(
    started: TurnStarted,
    seq: number,
  ): { readonly all: readonly Reminder[]; readonly fresh: readonly Reminder[] } {
    const turn = this.#turns?.get(started.turn)
    if (turn === undefined) return { all: started.reminders, fresh: [] }
    const { changes, shown } = turn
    let all = started.reminders
    for (const { added, removed } of changes.filter((made) => made.seq <= seq)) {
      if (added !== undefined && isVisible({ reminder: added }, 'reread')) {
        all = [...all, { ...added, firedAtTurn: started.turn }]
      }
      if (removed !== undefined) all = all.filter(({ id }) => !removed.includes(id))
    }
    const fresh = all.filter(({ id }) => !shown.has(id))
    for (const { id } of fresh) shown.add(id)
    return { all, fresh }
  }

  /** Whether the code of an open turn has read the reminder. */
  wasRead(id: string): boolean {
    return [...(this.#turns?.values() ?? [])].some(({ shown }) => shown.has(id))
  }

  /** The code of the turn has ended. */
  forget(turn: number): void {
    this.#turns?.delete(turn)
  }

  #change(made: Change): void {
    if (this.#turns === undefined) return
    for (const turn of this.#turns.values()) if (!turn.ended) turn.changes.push(made)
  }
}
