/** The agent's own word on a message before a task exists: a stateless reply, a rejection, or a task after all. */
import type { Message } from '../../core/message.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { Agent } from '../agent.ts'
import type { Caller } from '../caller.ts'
import type { EngineContext } from '../context.ts'
import { contextOf } from '../contexts.ts'
import { emptyConversation } from '../conversation.ts'
import { partsOf } from '../run/parts.ts'

export type Reception =
  | { readonly kind: 'reply'; readonly message: Message }
  | { readonly kind: 'reject'; readonly why: string }
  | { readonly kind: 'task' }

/** A reply is kept in the context, and under the claim, before it is given. */
export async function receive(
  context: EngineContext,
  caller: Caller,
  agent: Agent,
  message: Message,
  contextId: string,
  claim: Claim | undefined,
): Promise<Reception> {
  const { store, ids, clock } = context
  const { tenant, principal } = caller
  const place = { tenant, principal, contextId }
  const conversation =
    message.contextId === undefined
      ? emptyConversation
      : (await contextOf(context, place, message)).context
  const received = await agent.receive?.(message, {
    context: conversation,
    principal,
    reply: (content) => ({ kind: 'reply', parts: partsOf(content) }),
    reject: (why) => ({ kind: 'reject', why }),
  })
  if (received?.kind === 'reject') return received
  if (received === undefined && agent.run !== undefined) return { kind: 'task' }
  const parts = received?.parts ?? [{ text: `${agent.name} has no answer to that` }]
  const reply: Message = { messageId: ids.uuid(), role: 'ROLE_AGENT', parts, contextId }
  const at = clock.now()
  const exchange = [{ ...message, contextId }, reply]
  await store.reply(
    claim === undefined ? undefined : { ...claim, reply },
    exchange.map((one) => ({ tenant, principal, contextId, at, message: one })),
  )
  return { kind: 'reply', message: reply }
}
