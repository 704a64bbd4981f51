/**
 * What the code of a turn sees when it reads its reminders again. The code may decide by it, so live and rebuilt runs must
 * agree: both fold the same records here.
 *
 * V1  The code behind a result sees what was pending when that result was recorded: what came while a step or batch ran,
 *     it sees after it, and what was cleared or displaced meanwhile is gone.
 * V2  What waits for the completion of the turn is not seen within it.
 */
import type { LogRecord } from '../../core/records.ts'
import { isVisible, type Reminder } from '../../core/reminders.ts'

type TurnStarted = LogRecord & { readonly type: 'turn-started' }

interface Change {
  /** The record it belongs to. */
  readonly seq: number
  readonly added?: Reminder
  readonly removed?: readonly string[]
}

interface OpenTurn {
  readonly changes: Change[]
  /** Ids that are recorded as shown in it, or about to be. */
  readonly shown: Set<string>
  /** Its end is in the log: what changes after it does not concern it. */
  ended: boolean
}

/** A class: one instance per run is cheaper than one closure per method and run. Without turns it holds nothing. */
export class ReminderView {
  /** Those whose code is not over. */
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
        // What the end of a turn or a compaction brought about belongs to that.
        const isConsequence = record.reason === 'ttl' || record.reason === 'compaction'
        this.#change({ seq: isConsequence ? this.#lastKeyed : record.seq, removed: record.ids })
        break
      }
      default:
    }
  }

  /** What the turn sees behind the result of that record, and what of it was not shown in this turn before. */
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

  /** Whether the code of a turn has read it. */
  wasRead(id: string): boolean {
    return [...(this.#turns?.values() ?? [])].some(({ shown }) => shown.has(id))
  }

  /** The code of the turn is over. */
  forget(turn: number): void {
    this.#turns?.delete(turn)
  }

  #change(made: Change): void {
    if (this.#turns === undefined) return
    for (const turn of this.#turns.values()) if (!turn.ended) turn.changes.push(made)
  }
}
