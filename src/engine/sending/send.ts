/** A message comes in: it continues a task, answers one, is answered with a stateless message, or starts a task. */
import { LullError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { MakePush } from '../../core/push.ts'
import type { Reminder } from '../../core/reminders.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { Agent } from '../agent.ts'
import type { Caller } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { contextBegunBy } from '../contexts.ts'
import type { Holds } from '../holds.ts'
import { sendInput } from '../inputs.ts'
import type { Committed } from '../ledger.ts'
import { parse } from '../parse.ts'
import type { SendRequest } from '../requests.ts'
import { TransientMap } from '../transient-map.ts'
import { checkSame, claimFor, outcomeOf } from './claims.ts'
import { consentAskedFor, continueTask } from './continue.ts'
import { agentNamed, createTask } from './create.ts'
import { receive } from './receive.ts'
import { bornWith, remindersAlong } from './reminders-along.ts'
import type { Sent } from './sent.ts'

export type Send = (
  caller: Caller,
  request: SendRequest,
  along?: { readonly push?: MakePush },
) => Promise<Sent>

/** A message that may start a task. */
interface Incoming {
  readonly caller: Caller
  readonly agent: Agent
  readonly request: SendRequest
  /** Minted before the task exists. */
  readonly taskId: string
  readonly push: MakePush | undefined
  readonly reminders: readonly Reminder[] | undefined
}

interface Decided {
  readonly contextId?: string
  readonly rejection?: string | undefined
  /** Nobody has begun it: its code may run while it is written. */
  readonly ahead?: boolean
}

export function createSend(context: EngineContext, holds: Holds): Send {
  /** Keys whose task or reply is under way: a repeat waits for that answer. */
  const underWay = new TransientMap<{ readonly claim: Claim; readonly sent: Promise<Sent> }>()

  /** Not async: nearly every message starts a task, which has promises enough. */
  const send: Send = (caller, given, { push } = {}) => {
    try {
      const request = parse(sendInput, given)
      if (context.draining()) throw new LullError('DRAINING', { retryAfterMs: 1_000 })
      const { taskId, referenceTaskIds } = request.message
      const isNew = taskId === undefined && referenceTaskIds === undefined
      return isNew ? begin(caller, request, push) : goOn(caller, request, push)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async function goOn(caller: Caller, request: SendRequest, push?: MakePush): Promise<Sent> {
    const { message, idempotencyKey } = request
    const taskId = message.taskId ?? (await consentAskedFor(context, caller, message))?.id
    if (taskId === undefined) return begin(caller, request, push)
    await remindFirst(caller, taskId, request)
    return continueTask(context, caller, message, taskId, { idempotencyKey, push })
  }

  function begin(caller: Caller, request: SendRequest, push: MakePush | undefined): Promise<Sent> {
    const { message, idempotencyKey } = request
    const agent = agentNamed(context, request.agent)
    const taskId = context.ids.uuid()
    const reminders =
      request.reminders && bornWith(context, taskId, remindersAlong(context, agent, request))
    const incoming = { caller, agent, request, taskId, push, reminders }
    const claim = claimFor(context, caller, agent.name, message, taskId, idempotencyKey)
    if (agent.receive === undefined) return startOnce(incoming, claim)
    if (claim === undefined) return decideFirst(incoming, undefined)
    return claimFirst(incoming, claim)
  }

  async function remindFirst(caller: Caller, taskId: string, request: SendRequest): Promise<void> {
    if (request.reminders === undefined) return
    const { agent } = await taskFor(context, caller, taskId)
    const limit = context.options.pendingReminders
    for (const reminder of remindersAlong(context, context.agents.get(agent), request)) {
      await context.ledger.commit(taskId, { type: 'remind', reminder, limit })
    }
  }

  /** An agent that decides before a task exists must be asked once: the key is claimed before it is. */
  async function claimFirst(incoming: Incoming, mine: Claim): Promise<Sent> {
    const owner = await context.store.claim(mine)
    checkSame(owner, mine, incoming.request.idempotencyKey)
    const track = trackOf(mine)
    const first = underWay.get(track)
    if (first !== undefined) return { ...(await first.sent), repeated: true }
    const known = owner.taskId === mine.taskId ? undefined : await outcomeOf(context, owner)
    if (known !== undefined) return known
    const sent = decideFirst({ ...incoming, taskId: owner.taskId }, owner)
    underWay.set(track, { claim: owner, sent })
    return sent.finally(() => underWay.delete(track))
  }

  async function decideFirst(incoming: Incoming, claim: Claim | undefined): Promise<Sent> {
    const { caller, agent, request, taskId } = incoming
    const contextId = request.message.contextId ?? contextBegunBy(taskId)
    const received = await receive(context, caller, agent, request.message, contextId, claim)
    if (received.kind === 'reply') return { ...received, kind: 'message', repeated: false }
    const rejection = received.kind === 'reject' ? received.why : undefined
    return created(await start(incoming, undefined, { contextId, rejection }))
  }

  /** The agent's code may begin while the task is written, unless that could be the second time. */
  function startOnce(incoming: Incoming, claim: Claim | undefined): Promise<Sent> {
    if (claim === undefined) return start(incoming, claim, { ahead: true }).then(created)
    const track = trackOf(claim)
    const first = underWay.get(track)
    if (first === undefined) {
      const sent = startFirst(incoming, claim)
      underWay.set(track, { claim, sent })
      return sent.finally(() => underWay.delete(track))
    }
    checkSame(first.claim, claim, incoming.request.idempotencyKey)
    return first.sent.then((sent) => ({ ...sent, repeated: true }))
  }

  async function startFirst(incoming: Incoming, claim: Claim): Promise<Sent> {
    const ahead = (await context.store.findClaim(claim)) === undefined
    const committed = await start(incoming, claim, { ahead })
    if (committed.claimed === undefined) return created(committed)
    checkSame(committed.claimed, claim, incoming.request.idempotencyKey)
    return toldBefore(committed.claimed)
  }

  async function toldBefore(claimed: Claim): Promise<Sent> {
    const known = await outcomeOf(context, claimed)
    if (known === undefined) throw new LullError('TASK_NOT_FOUND', { taskId: claimed.taskId })
    return known
  }

  function start(
    { caller, agent, request, taskId, push, reminders }: Incoming,
    claim: Claim | undefined,
    decided: Decided,
  ): Promise<Committed> {
    const { message, metadata, origin } = request
    const contextId = decided.contextId ?? message.contextId ?? contextBegunBy(taskId)
    // A conversation that goes on has to be read first.
    const ahead = decided.ahead === true && message.contextId === undefined
    const birth = {
      taskId,
      tenant: caller.tenant,
      principal: caller.principal,
      agent: agent.name,
      contextId,
      message: placed(message, taskId, contextId),
      parentId: undefined,
      origin,
      metadata,
      eventsAfter: 0,
      reminders,
    }
    const made = { claim, push, rejection: decided.rejection, ahead }
    return createTask(context, holds, birth, made)
  }

  return send
}

function created({ task, laterRecords, latest }: Committed): Sent {
  return { kind: 'task', task, laterRecords, latest, repeated: false }
}

/** Not a copy: parsing made one. */
function placed(
  message: { -readonly [K in keyof Message]: Message[K] },
  taskId: string,
  contextId: string,
): Message {
  message.taskId = taskId
  message.contextId = contextId
  return message
}

/** With the lengths of those in front: whatever characters they have, no two keys are the same text. */
function trackOf({ tenant, principal, agent, key }: Claim): string {
  const { length } = tenant
  return `${length},${principal.length},${agent.length},${tenant}${principal}${agent}${key}`
}
