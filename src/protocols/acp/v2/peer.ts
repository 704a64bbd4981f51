/** A client that speaks version 2. */

import type { PromptResponse } from '@agentclientprotocol/sdk'
import type {
  AgentContext,
  SessionUpdate,
  StateUpdate,
} from '@agentclientprotocol/sdk/experimental/v2'
import type { Task } from '../../../core/task.ts'
import type { ClientFacts } from '../capabilities.ts'
import { createPeer, type Peer } from '../connection/peer.ts'
import type { Traces } from '../connection/traces.ts'
import { isIdle } from '../render/updates.ts'
import { updateV2 } from './shapes.ts'

export function createPeerV2(client: AgentContext, facts: ClientFacts, traces: Traces): Peer {
  const states = new Map<string, States>()

  const send = (sessionId: string, update: SessionUpdate): Promise<void> =>
    client.notify('session/update', traces.add({ sessionId, update }))

  function statesOf(sessionId: string): States {
    const found = states.get(sessionId) ?? createStates()
    states.set(sessionId, found)
    return found
  }

  const tellState = async (sessionId: string, state: StateUpdate | undefined): Promise<void> => {
    if (state !== undefined) await send(sessionId, { sessionUpdate: 'state_update', ...state })
  }

  const more: Partial<Peer> = {
    // Version 2 sends every message to all clients, including its sender.
    echoes: true,
    stateChanged: (sessionId, task, asking) =>
      tellState(sessionId, statesOf(sessionId).moved(task, asking)),
    sendState: (sessionId) => tellState(sessionId, statesOf(sessionId).now()),
    async echo(sessionId, messageId, prompt) {
      for (const content of prompt) {
        await send(sessionId, { sessionUpdate: 'user_message_chunk', messageId, content })
      }
    },
    async during(sessionId, work) {
      const states = statesOf(sessionId)
      await tellState(sessionId, states.entered())
      let end: PromptResponse = { stopReason: 'end_turn' }
      try {
        end = await work()
        return end
      } finally {
        await tellState(sessionId, states.left(end))
      }
    },
  }
  return createPeer(
    {
      notify: (method, params) => client.notify(method as `_${string}`, params),
      request: (method, params, options) => client.request(method as `_${string}`, params, options),
      updateOf: updateV2,
      permission: (toolCall, title) => ({ title, subject: { type: 'tool_call', toolCall } }),
      more,
    },
    facts,
    traces,
  )
}

/**
 * `state_update`: a session is running, requires action by its user, or is idle. It is sent on
 * every change and at every attachment. A session with several tasks is running while one of them
 * runs.
 */
type State = 'running' | 'requires_action' | 'idle'

interface States {
  /** The update to send after the task changed. Undefined if the state is the same. */
  moved(task: Task, asking: boolean): StateUpdate | undefined
  /** Called when work without a task begins: a reply, or a slash command. */
  entered(): StateUpdate | undefined
  /** Called when work without a task has ended. */
  left(end: PromptResponse): StateUpdate | undefined
  /** The current state of the session. */
  now(): StateUpdate
}

function createStates(): States {
  const tasks = new Map<string, State>()
  /** The number of pieces of work without a task that are in progress. */
  let others = 0
  let last: StateUpdate = { state: 'idle' }

  /** @param idle the update to send if no work is in progress */
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

/** The idle state after a reply. A reply about a suspended task leaves the session suspended. */
function idleAfter({ _meta }: PromptResponse): StateUpdate {
  const lull = _meta?.['lull'] as { readonly suspend?: { readonly state?: string } } | undefined
  return lull?.suspend?.state === 'suspended'
    ? { state: 'idle', stopReason: '_suspended' }
    : { state: 'idle', stopReason: 'end_turn' }
}

/**
 * The idle state of a task. Version 2 requires that additional stop reasons begin with an
 * underscore.
 */
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
    case 'completed':
    case 'submitted':
    case 'working':
    case 'input-required':
    case 'auth-required':
    case 'user-consent-required':
      return { state: 'idle', stopReason: 'end_turn' }
  }
}
