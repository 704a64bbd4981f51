/**
 * A repeated message has no second effect. Its key is claimed in a row that holds the task's id before the task exists.
 * A repeat finds the task, the reply, or (after a crash in between) the id to create the task with.
 */
import { canonical } from '../../core/canonical-json.ts'
import { LullError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { EngineContext } from '../context.ts'
import { remainsOf } from '../removed-task.ts'
import type { Incoming } from './incoming.ts'
import type { SendResult } from './sent.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A bare `messageId` counts as a key only when it is a UUID: others are chosen by hand and used again. */
export function isKey({ options }: Pick<EngineContext, 'options'>, message: Message): boolean {
  return options.messageIdIsKey && UUID.test(message.messageId)
}

/** Undefined where the message has no key. An explicit key decides alone, whatever its message is called. */
export function claimFor(
  context: Pick<EngineContext, 'options' | 'signer' | 'clock'>,
  { caller, request }: Pick<Incoming, 'caller' | 'request'>,
  agent: string,
  taskId: string,
): Claim | undefined {
  const { message, idempotencyKey } = request
  if (idempotencyKey === undefined && !isKey(context, message)) return undefined
  return {
    tenant: caller.tenant,
    principal: caller.principal,
    agent,
    key: idempotencyKey ?? `${message.contextId ?? ''}/${message.messageId}`,
    taskId,
    // Without an explicit key, messages with the same id count as the same, whatever their content.
    digest: idempotencyKey === undefined ? '' : context.signer.hash(canonical(message)),
    createdAt: context.clock.now(),
  }
}

/** @throws LullError `IDEMPOTENCY_KEY_REUSED` when the sender chose the key and sent another message with it before */
export function checkSame(known: Claim, mine: Claim): void {
  if (known.digest === mine.digest || mine.digest === '') return
  throw new LullError('IDEMPOTENCY_KEY_REUSED', { key: mine.key })
}

/**
 * What a claim led to: a reply, a task, or a task that retention has removed since (as much of it as is still known).
 * Undefined when the process died before it created the task or stored the reply.
 */
export async function outcomeOf(
  { ledger, store }: Pick<EngineContext, 'ledger' | 'store'>,
  claim: Claim,
  message: Message,
): Promise<SendResult | undefined> {
  if (claim.reply !== undefined) return { kind: 'message', message: claim.reply, repeated: true }
  const { taskId } = claim
  const task = (await ledger.read(taskId)) ?? remainsOf(await store.removedTask(taskId), message)
  return task && { kind: 'task', task, laterRecords: [], latest: task, repeated: true }
}
