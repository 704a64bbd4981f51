/** A message comes in: it continues a task, answers one, is answered with a stateless message, or starts a task. */
import { LullError } from '../../core/errors.ts'
import type { MakePush } from '../../core/push.ts'
import type { Reminder } from '../../core/reminders.ts'
import type { Claim } from '../../ports/task-store.ts'
import type { Agent } from '../agent.ts'
import type { Caller } from '../caller.ts'
import { type EngineContext, taskFor } from '../context.ts'
import { contextBegunBy } from '../contexts.ts'
import type { Holds } from '../holds.ts'
import { sendInput } from '../inputs.ts'
import { parse } from '../parse.ts'
import type { SendRequest } from '../requests.ts'
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
  readonly reminders: readonly Reminder[]
}

export function createSend(context: EngineContext, holds: Holds): Send {
  /** Keys whose agent is deciding right now: a repeat waits for that answer. */
  const deciding = new Map<string, Promise<Sent>>()

  const send: Send = async (caller, given, { push } = {}) => {
    const request = parse(sendInput, given)
    const { message, idempotencyKey } = request
    if (context.draining()) throw new LullError('DRAINING', { retryAfterMs: 1_000 })
    const known = message.taskId ?? (await consentAskedFor(context, caller, message))?.id
    if (known !== undefined) {
      await remindFirst(caller, known, request)
      return continueTask(context, caller, message, known, { idempotencyKey, push })
    }
    const agent = agentNamed(context, request.agent)
    const taskId = context.ids.uuid()
    const reminders = bornWith(context, taskId, remindersAlong(context, agent, request))
    const incoming = { caller, agent, request, taskId, push, reminders }
    const claim = claimFor(context, caller, agent.name, message, taskId, idempotencyKey)
    if (agent.receive === undefined) return start(incoming, claim)
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
    const place = [mine.tenant, mine.principal, mine.agent, mine.key].join('\n')
    const underWay = deciding.get(place)
    if (underWay !== undefined) return { ...(await underWay), repeated: true }
    const known = owner.taskId === mine.taskId ? undefined : await outcomeOf(context, owner)
    if (known !== undefined) return known
    const decision = decideFirst({ ...incoming, taskId: owner.taskId }, owner).finally(() =>
      deciding.delete(place),
    )
    deciding.set(place, decision)
    return decision
  }

  async function decideFirst(incoming: Incoming, claim: Claim | undefined): Promise<Sent> {
    const { caller, agent, request, taskId } = incoming
    const contextId = request.message.contextId ?? contextBegunBy(taskId)
    const received = await receive(context, caller, agent, request.message, contextId, claim)
    if (received.kind === 'reply') return { ...received, kind: 'message', repeated: false }
    const rejection = received.kind === 'reject' ? received.why : undefined
    return start(incoming, undefined, { contextId, rejection })
  }

  async function start(
    { caller, agent, request, taskId, push, reminders }: Incoming,
    claim: Claim | undefined,
    decided: { readonly contextId?: string; readonly rejection?: string | undefined } = {},
  ): Promise<Sent> {
    const { message, metadata, origin, idempotencyKey } = request
    const contextId = decided.contextId ?? message.contextId ?? contextBegunBy(taskId)
    const birth = {
      taskId,
      tenant: caller.tenant,
      principal: caller.principal,
      agent: agent.name,
      contextId,
      message: { ...message, taskId, contextId },
      ...(origin === undefined ? {} : { origin }),
      ...(metadata === undefined ? {} : { metadata }),
    }
    const { rejection } = decided
    const along = { claim, push, rejection, reminders }
    const { task, claimed } = await createTask(context, holds, birth, along)
    if (claimed === undefined || claim === undefined) return { kind: 'task', task, repeated: false }
    checkSame(claimed, claim, idempotencyKey)
    const known = await outcomeOf(context, claimed)
    if (known === undefined) throw new LullError('TASK_NOT_FOUND', { taskId: claimed.taskId })
    return known
  }

  return send
}
