/**
 * Which reminders the code of a turn sees when it reads them again. The code may branch on them, so live and rebuilt
 * runs must see the same. Both fold the same records here.
 *
 * V1  The code after a result sees the reminders that were pending when that result was recorded. Reminders that arrived
 *     during a step or batch are seen after it. Those that were cleared or replaced meanwhile are not.
 * V2  A reminder that waits for the completion of the turn is not seen within the turn.
 */
import type { LogRecord } from '../../../core/records.ts'
import { isVisible, type Reminder } from '../../../core/reminders/reminders.ts'

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
