/** Accepts a command. What happens to it depends on the phase of the task's entry in memory. */
import type { Task } from '../../core/task.ts'
import type { Flusher } from './flusher.ts'
import type { Planner, Waiting } from './plan.ts'
import { move, type Phase, type TaskEntry, unreadableError } from './task-entry.ts'

export interface AcceptDeps {
  readonly planner: Planner
  readonly flusher: Pick<Flusher, 'add'>
  /** Reads the store for the entry. */
  readonly load: (entry: TaskEntry) => void
  /** Puts the entry into the next flush, which decides its queued commands. */
  readonly enqueue: (entry: TaskEntry) => void
}

/**
 * @param begun called with the new task when the command is a create that is decided before its
 * commit is durable
 */
export type Accept = (
  entry: TaskEntry,
  one: Waiting,
  begun: ((task: Task) => void) | undefined,
) => void

const wait: Accept = ({ queue }, one) => {
  queue.push(one)
}

export function createAccept({ planner, flusher, load, enqueue }: AcceptDeps): Accept {
  const byPhase: { readonly [P in Phase]: Accept } = {
    unknown(entry, one, begun) {
      if (begun !== undefined) {
        open(entry, one, begun)
        return
      }
      entry.queue.push(one)
      if (one.creates) enqueue(entry)
      else load(entry)
    },
    loading: wait,
    unreadable: (entry, one) => one.reject(unreadableError(entry)),
    idle(entry, one) {
      entry.queue.push(one)
      enqueue(entry)
    },
    open(entry, one) {
      if (entry.plan === undefined || one.alone || entry.queue.length > 0) entry.queue.push(one)
      else planner.add(entry.plan, one)
    },
    queued: wait,
    writing: wait,
    checking: wait,
  }

  /**
   * Decides a create at once, before its commit is durable. Commands that follow in the same turn
   * of the event loop join that commit.
   */
  function open(entry: TaskEntry, one: Waiting, begun: (task: Task) => void): void {
    const plan = planner.begin(entry)
    move(entry, 'open')
    entry.plan = plan
    planner.add(plan, one)
    flusher.add(entry)
    if (plan.task !== undefined && plan.records.length > 0) begun(plan.task)
  }

  return (entry, one, begun) => byPhase[entry.phase](entry, one, begun)
}
