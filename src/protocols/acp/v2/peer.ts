/** A client that speaks version 2. */
import type { PromptResponse } from '@agentclientprotocol/sdk'
import type {
  AgentContext,
  SessionUpdate,
  StateUpdate,
} from '@agentclientprotocol/sdk/experimental/v2'
import { filledIn, formOf } from '../../../core/messages/question-form.ts'
import type { ClientFacts } from '../capabilities.ts'
import { decisionOf, type Peer, permissionOptions } from '../connection/peer.ts'
import type { Traces } from '../connection/traces.ts'
import { titleOf } from '../render/updates.ts'
import { updateV2 } from './shapes.ts'
import { createStates, type States } from './states.ts'

export function createPeerV2(client: AgentContext, facts: ClientFacts, traces: Traces): Peer {
  const states = new Map<string, States>()
  let known = facts

  const send = (sessionId: string, update: SessionUpdate): Promise<void> =>
    client.notify('session/update', traces.add({ sessionId, update }))

  const request: Peer['request'] = (method, params, signal) =>
    client.request(method as `_${string}`, traces.add(params), {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    })

  function statesOf(sessionId: string): States {
    const mine = states.get(sessionId) ?? createStates()
    states.set(sessionId, mine)
    return mine
  }

  const tellState = async (sessionId: string, state: StateUpdate | undefined): Promise<void> => {
    if (state !== undefined) await send(sessionId, { sessionUpdate: 'state_update', ...state })
  }

  return {
    get facts() {
      return known
    },
    markAware() {
      known = { ...known, aware: true }
    },
    // Version 2 sends every message to all clients, including its sender.
    echoes: true,
    update: (sessionId, update) => send(sessionId, updateV2(update)),
    moved: (sessionId, task, asking) =>
      tellState(sessionId, statesOf(sessionId).moved(task, asking)),
    standing: (sessionId) => tellState(sessionId, statesOf(sessionId).now()),
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
    notify: (method, params) => client.notify(method as `_${string}`, traces.add(params)),
    request,
    async askConsent(sessionId, message, consent, signal) {
      const toolCall = {
        toolCallId: consent.consentId,
        title: titleOf(message),
        kind: 'other',
        status: 'pending',
        rawInput: consent.operation,
      }
      const { outcome } = (await request(
        'session/request_permission',
        {
          sessionId,
          title: titleOf(message),
          subject: { type: 'tool_call', toolCall },
          options: permissionOptions,
        },
        signal,
      )) as { readonly outcome: { readonly outcome: string; readonly optionId?: string } }
      return outcome.outcome === 'selected' ? decisionOf(outcome.optionId) : undefined
    },
    async askForm(sessionId, question, signal) {
      const form = { sessionId, ...formOf(question) }
      return filledIn(question, await request('elicitation/create', form, signal))
    },
  }
}
