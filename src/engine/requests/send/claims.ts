/**
 * Claims make sending idempotent. A claim is a row that binds the key of a message to a task id, before the task exists.
 * A repeated message finds the task, the reply, or (after a crash in between) the id with which the task is created.
 */

import { LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import type { EngineContext } from '../../context.ts'
import { remainsOf } from '../removed-task.ts'
import type { Incoming, SendResult } from './send-result.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the `messageId` is used as idempotency key. Only UUIDs are, because other ids are often used again. */
export function isKey({ options }: Pick<EngineContext, 'options'>, message: Message): boolean {
  return options.messageIdIsKey && UUID.test(message.messageId)
}

/** The claim for a message. Undefined if it has no key. An explicit key is used without the message id. */
export function claimFor(
  context: Pick<EngineContext, 'options' | 'clock'>,
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
    // Without an explicit key, two messages with the same id are the same message, even if their content differs.
    digest: idempotencyKey === undefined ? '' : sha256(canonical(message)),
    createdAt: context.clock.now(),
  }
}

/** @throws LullError `IDEMPOTENCY_KEY_REUSED` when the sender chose the key and sent another message with it before */
export function checkSame(known: Claim, mine: Claim): void {
  if (known.digest === mine.digest || mine.digest === '') return
  throw new LullError('IDEMPOTENCY_KEY_REUSED', { key: mine.key })
}

/**
 * The result of the message that made the claim: a reply, a task, or what is left of a task that retention removed.
 * Undefined when the process died before it created the task or stored the reply.
 */
export async function outcomeOf(
  { ledger, store }: Pick<EngineContext, 'ledger' | 'store'>,
  claim: Claim,
  message: Message,
): Promise<SendResult | undefined> {
  if (claim.reply !== undefined) return { kind: 'message', message: claim.reply, repeated: true }
  const { tenant, taskId } = claim
  const task =
    (await ledger.read(taskId, tenant)) ??
    remainsOf(await store.removedTask(tenant, taskId), message)
  return task && { kind: 'task', task, laterRecords: [], latest: task, repeated: true }
}
