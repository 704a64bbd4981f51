/**
 * Reminders for agents that do not use `task.turn`. Each step that is not inside another step counts as one turn. A
 * reminder that the code reads before or inside such a step is shown in that turn. The step's record takes one off its
 * TTL.
 *
 * T1  A read is journaled, so a rebuilt run reads the same.
 * T2  All reads after one result and before the next give the same list.
 * T3  A reminder that waits for the completion of a turn is not shown to a later read of the same turn, also when the run
 *     was rebuilt between the two reads.
 * T4  The first read of a turn asks the providers, as the start of a `task.turn` does, until the code has called
 *     `task.turn`: from then on the providers are asked there.
 */
import type { Providing } from '../../../core/commands.ts'
import { providing } from '../../../core/decide/reminding.ts'
import { isVisible, type Reminder } from '../../../core/reminders/reminders.ts'
import type { MembersOf } from '../../../core/values/json.ts'
import type { RunCore } from '../run-core.ts'
import { turnStarting } from '../turns/turn-start.ts'

/** The journaled value of a read. */
type RecordedRead = {
  readonly turn: number
  readonly reminders: readonly MembersOf<Reminder>[]
}

interface Read {
  readonly result: number
  readonly prefix: string
  readonly reminders: readonly Reminder[]
}

/** @param asksProviders whether the code has called no `task.turn` so far */
export function createStepReminders(
  core: RunCore,
  asksProviders: () => boolean,
): () => readonly Reminder[] {
  let last: Read | undefined
  let lastTurn = 0

  /** The pending reminders and those that the providers add, as the next turn shows them. */
  function show(key: string): RecordedRead {
    const { task } = core
    const turn = task.turn + 1
    const isFirst = lastTurn !== turn
    const starting = isFirst && asksProviders() ? turnStarting(core) : undefined
    const wanted: Providing = starting === undefined ? {} : core.ask(starting, task)
    const { pending } = providing(task.reminders, wanted)
    const when = isFirst ? 'start' : 'reread'
    const visible = pending.filter((item) => item.shownInTurn === turn || isVisible(item, when))
    const fresh = visible.filter((item) => item.shownInTurn !== turn)
    const wake = starting?.wake
    if (fresh.length > 0 || wake !== undefined) {
      const ids = fresh.map(({ reminder }) => reminder.id)
      const told = wake === undefined ? {} : { toldWake: wake.handle }
      core.writeWithNext({ type: 'show-reminders', key, turn, ids, ...told, ...wanted })
    }
    const reminders = visible.map(({ reminder, emittedAtTurn = turn }) => ({
      ...reminder,
      firedAtTurn: emittedAtTurn,
    }))
    return { turn, reminders }
  }

  return () => {
    const result = core.lastResult
    const { prefix } = core.scope
    if (last?.result === result && last.prefix === prefix) return last.reminders
    const key = core.key('reminders')
    const { turn, reminders } = core.value<RecordedRead>('reminders-read', () => show(key))
    lastTurn = turn
    last = { result, prefix, reminders }
    return reminders
  }
}
