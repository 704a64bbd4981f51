/**
 * `state_update`: whether a session is at work, waits for its user, or rests, and why. Sent when that changes, and on
 * every attachment. A session with several tasks is at work while one of them is.
 */
import type { PromptResponse } from '@agentclientprotocol/sdk'
import type { StateUpdate } from '@agentclientprotocol/sdk/experimental/v2'
import type { Task } from '../../../core/task.ts'
import { isIdle } from '../render/updates.ts'

type State = 'running' | 'requires_action' | 'idle'

export interface States {
  /** What to send after the task changed; undefined: nothing has. */
  moved(task: Task, asking: boolean): StateUpdate | undefined
  /** Work begins that is no task's: a reply without a task, a slash command. */
  entered(): StateUpdate | undefined
  /** That work has ended so. */
  left(end: PromptResponse): StateUpdate | undefined
  /** How the session stands. */
  now(): StateUpdate
}

export function createStates(): States {
  const tasks = new Map<string, State>()
  /** How much work goes on that is no task's. */
  let others = 0
  let last: StateUpdate = { state: 'idle' }

  /** @param idle what is said where nothing goes on any more */
  function changeTo(idle: StateUpdate): StateUpdate | undefined {
    const all = [...tasks.values()]
    const running = all.includes('running') || others > 0
    const update: StateUpdate = all.includes('requires_action')
      ? { state: 'requires_action' }
      : running
        ? { state: 'running' }
        : idle
    if (JSON.stringify(update) === JSON.stringify(last)) return undefined
    last = update
    return update
  }

  return {
    moved(task, asking) {
      const state: State = asking ? 'requires_action' : isIdle(task) ? 'idle' : 'running'
      if (state === 'idle') tasks.delete(task.id)
      else tasks.set(task.id, state)
      return changeTo(restOf(task))
    },
    entered() {
      others++
      return changeTo({ state: 'running' })
    },
    left(end) {
      others--
      return changeTo(idleAfter(end))
    },
    now: () => last,
  }
}

/** After a reply about a task that is suspended, the session is idle because of that. */
function idleAfter({ _meta }: PromptResponse): StateUpdate {
  const lull = _meta?.['lull'] as { readonly suspend?: { readonly state?: string } } | undefined
  return lull?.suspend?.state === 'suspended'
    ? { state: 'idle', stopReason: '_suspended' }
    : { state: 'idle', stopReason: 'end_turn' }
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
