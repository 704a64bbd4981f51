/**
 * `state_update`: whether a session is at work, waits for its user, or rests, and why. Sent when that changes, and on
 * every attachment. A session with several tasks is at work while one of them is.
 */
import type { StateUpdate } from '@agentclientprotocol/sdk/experimental/v2'
import type { Task } from '../../../core/task.ts'
import { atRest } from '../render/updates.ts'

type State = 'running' | 'requires_action' | 'idle'

export interface States {
  /** What to send after the task changed; undefined: nothing has. */
  moved(task: Task, asking: boolean): StateUpdate | undefined
  /** How the session stands. */
  now(): StateUpdate
}

export function createStates(): States {
  const tasks = new Map<string, State>()
  let last: StateUpdate = { state: 'idle' }

  function next(task: Task): StateUpdate {
    const all = [...tasks.values()]
    if (all.includes('requires_action')) return { state: 'requires_action' }
    return all.includes('running') ? { state: 'running' } : restOf(task)
  }

  return {
    moved(task, asking) {
      const state: State = asking ? 'requires_action' : atRest(task) ? 'idle' : 'running'
      if (state === 'idle') tasks.delete(task.id)
      else tasks.set(task.id, state)
      const update = next(task)
      if (JSON.stringify(update) === JSON.stringify(last)) return undefined
      last = update
      return update
    },
    now: () => last,
  }
}

/** Stop reasons of our own begin with an underscore, as the draft wants it. */
function restOf({ state, failure }: Task): StateUpdate {
  switch (state) {
    case 'canceled':
      return { state: 'idle', stopReason: 'cancelled' }
    case 'rejected':
      return { state: 'idle', stopReason: 'refusal' }
    case 'failed': {
      const message = failure?.message ?? 'The task failed'
      return { state: 'idle', stopReason: 'error', error: { code: -32603, message } }
    }
    case 'paused-by-agent':
    case 'paused-by-client':
      return { state: 'idle', stopReason: '_suspended' }
    default:
      return { state: 'idle', stopReason: 'end_turn' }
  }
}
