/**
 * Decides an import: a task begins with a log from another store, followed by a record of the
 * import and of the holds that cover it.
 */
import type { Command } from '../commands.ts'
import { evolve, fold } from '../evolve.ts'
import type { RecordBody } from '../records.ts'
import { isTerminal } from '../states.ts'
import type { Task } from '../task.ts'
import { hold as holdTask } from './control.ts'
import { type Decided, nothing } from './decided.ts'

/**
 * An imported task that has ended gets no stop, because nothing may follow the last record of such
 * a task.
 */
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
