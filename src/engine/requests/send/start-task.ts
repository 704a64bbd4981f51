/** A message starts a task, once per idempotency key. The agent's code may start before the task is durable. */
import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import type { Agent } from '../../author/agent.ts'
import type { EngineContext } from '../../context.ts'
import type { Committed } from '../../ledger/ledger.ts'
import { checkSame, claimFor, outcomeOf } from './claims.ts'
import { createFromMessage } from './create.ts'
import type { Incoming, Sending, SendResult } from './send-result.ts'
import { inputOf } from './task-input.ts'

export async function startTask(
  sending: Sending,
  incoming: Incoming,
  agent: Agent,
): Promise<SendResult> {
  const { context, inFlight } = sending
  const taskId = context.ids.uuid()
  const claim = claimFor(context, incoming, agent.name, taskId)
  const create = async (): Promise<Committed> => {
    const bytes = weightOf(incoming.request.message)
    const admitting = context.quotas.admit(incoming.caller, { tasks: 1, bytes })
    if (admitting !== undefined) await admitting
    const given = inputOf(agent, incoming.request.message)
    const input = given instanceof Promise ? await given : given
    return createFromMessage(sending, incoming, { agent, taskId, claim, input, ahead: true })
  }
  if (claim === undefined) return created(await create())
  return inFlight.once(claim, async () => {
    const known = await context.store.findClaim(claim)
    const { message } = incoming.request
    if (known !== undefined) return repeated(context, known, claim, message)
    const committed = await create()
    return committed.claimed === undefined
      ? created(committed)
      : repeated(context, committed.claimed, claim, message)
  })
}

export function created({ task, laterRecords, latest }: Committed): SendResult {
  return { kind: 'task', task, laterRecords, latest, repeated: false }
}

/** The result of the first message with this key. The claim was written with its task, so the task exists or existed. */
async function repeated(
  context: EngineContext,
  known: Claim,
  mine: Claim,
  message: Message,
): Promise<SendResult> {
  checkSame(known, mine)
  const outcome = await outcomeOf(context, known, message)
  if (outcome === undefined) throw new LullError('TASK_NOT_FOUND', { taskId: known.taskId })
  return outcome
}
