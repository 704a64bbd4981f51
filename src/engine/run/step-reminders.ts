/**
 * Reminders as an agent without `task.turn` sees them. Each step outside of another is a turn: what the code reads before
 * a step or in it was shown in the turn of that step, and its record takes the turn off their TTL.
 *
 * T1  A read is journaled, so a rebuilt run reads the same.
 * T2  Behind one result every read gives the same list.
 * T3  What waits for the completion of a turn is not shown to a later read of the same turn.
 */
import type { Json } from '../../core/json.ts'
import { isVisible, type Reminder } from '../../core/reminders.ts'
import type { RunCore } from './core.ts'

interface Read {
  readonly result: number
  readonly prefix: string
  readonly reminders: readonly Reminder[]
}

export function createStepReminders(core: RunCore): () => readonly Reminder[] {
  let last: Read | undefined
  let lastTurn = 0

  /** What is pending now, as the turn to come shows it. */
  function show(key: string): readonly Reminder[] {
    const { reminders: pending, turn: ended } = core.task
    const turn = ended + 1
    const when = lastTurn === turn ? 'reread' : 'start'
    lastTurn = turn
    const visible = pending.filter((item) => item.shownInTurn === turn || isVisible(item, when))
    const fresh = visible.filter((item) => item.shownInTurn !== turn)
    if (fresh.length > 0) {
      const ids = fresh.map(({ reminder }) => reminder.id)
      core.later({ type: 'show-reminders', key, turn, ids })
    }
    return visible.map(({ reminder, emittedAtTurn = turn }) => ({
      ...reminder,
      firedAtTurn: emittedAtTurn,
    }))
  }

  return () => {
    const result = core.lastResult
    const { prefix } = core.scope
    if (last?.result === result && last.prefix === prefix) return last.reminders
    const key = core.key('reminders')
    const read = core.value('reminders-read', () => show(key) as unknown as Json)
    last = { result, prefix, reminders: read as unknown as readonly Reminder[] }
    return last.reminders
  }
}
