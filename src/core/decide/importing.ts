/** Decides how a task begins with a log of another store: that it was imported, and the holds it arrives under. */
import type { Command } from '../commands.ts'
import { evolve, fold } from '../evolve.ts'
import type { RecordBody } from '../records.ts'
import { isTerminal } from '../states.ts'
import type { Task } from '../task.ts'
import { hold as holdTask } from './control.ts'
import { type Decided, nothing } from './decided.ts'

/** Nothing follows the last record of a task that has ended. */
export function importLog(
  task: Task | undefined,
  { log, imported, handle, holds }: Command & { readonly type: 'import' },
  at: number,
): Decided {
  if (task !== undefined) return nothing
  let next = fold(log)
  if (next === undefined || isTerminal(next.state)) return { copied: log, records: [] }
  const records: RecordBody[] = []
  const append = (body: RecordBody): void => {
    records.push(body)
    next = evolve(next, { ...body, seq: (next?.version ?? 0) + 1, at })
  }
  append(imported)
  for (const hold of holds) {
    const held = holdTask(next, { type: 'hold', hold, handle, atBoundary: true }, at)
    for (const body of held.records ?? []) append(body)
  }
  return { copied: log, records }
}
