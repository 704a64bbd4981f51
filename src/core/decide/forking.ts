/**
 * Decides a fork: a task begins with the recorded past of another. It begins paused, so that its
 * first receipt can name its origin.
 */
import type { Command } from '../commands.ts'
import { fold } from '../evolve.ts'
import type { RecordBody } from '../records.ts'
import type { Suspension } from '../suspension.ts'
import type { Task } from '../task.ts'
import { type Decided, nothing } from './decided.ts'

export function fork(
  task: Task | undefined,
  { past, forked, stop, holds }: Command & { readonly type: 'fork' },
  at: number,
): Decided {
  if (task !== undefined) return nothing
  const origin = fold(past)
  const suspension: Suspension = {
    ...stop,
    epoch: (origin?.epoch ?? 0) + 1,
    initiator: 'client',
    mode: 'interrupt_immediate',
    requestedAt: at,
    pausedFrom: 'working',
    byFork: true,
    eventsAfter: 0,
  }
  const records: RecordBody[] = [
    { type: 'forked', ...forked },
    ...holds.map((hold) => ({ type: 'held', ...hold }) as const),
    { type: 'pause-requested', suspension },
    { type: 'paused', handle: stop.handle },
  ]
  return { copied: past, records }
}
