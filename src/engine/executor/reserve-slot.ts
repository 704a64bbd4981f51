/** Takes a slot for a run that may begin, and makes the token of that run. */
import type { RunToken } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Slots } from './slots.ts'

export interface SlotReservations {
  /**
   * Takes a slot for a task that just became able to run. Undefined while older tasks are queued.
   */
  reserve(of: SlotOwner): RunToken | undefined
  /** Takes a slot for the task at the head of the queue. */
  reserveForQueued(of: SlotOwner): RunToken | undefined
}

/** The agent and tenant for which a slot is taken. */
export type SlotOwner = Pick<Task, 'agent' | 'tenant'>

export interface SlotReservationDeps {
  readonly ids: IdSource
  readonly worker: () => string
  /** Whether this process may start work. */
  readonly holdsLease: () => boolean
  readonly slots: Slots
  /** Whether the agent is registered. */
  readonly knows: (agent: string) => boolean
  /** Whether older tasks of the agent are queued for a slot. */
  readonly queued: (agent: string) => boolean
  readonly draining: () => boolean
}

export function createSlotReservations(deps: SlotReservationDeps): SlotReservations {
  const { ids, worker, holdsLease, slots, knows, queued, draining } = deps

  function reserveForQueued({ agent, tenant }: SlotOwner): RunToken | undefined {
    if (!holdsLease()) return undefined
    const token = ids.uuid()
    return slots.take(agent, token, tenant) ? { token, worker: worker() } : undefined
  }

  return {
    reserve: (of) =>
      draining() || !knows(of.agent) || queued(of.agent) ? undefined : reserveForQueued(of),
    reserveForQueued,
  }
}
