/** The claim of a fork binds the idempotency key of the request to the id of the new task, before that task exists. */

import type { Message } from '../../../core/messages/message.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Task } from '../../../core/task.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import type { Caller } from '../../caller.ts'
import type { EngineContext } from '../../context.ts'
import { remainsOf } from '../removed-task.ts'
import { checkSame } from '../send/claims.ts'
import type { CheckedForkRequest } from './fork-task.ts'

/** Undefined if the request has no key. */
export function claimOfFork(
  { ids, clock }: EngineContext,
  { principal }: Caller,
  { id, tenant, agent }: Task,
  { idempotencyKey, ...fork }: CheckedForkRequest,
): Claim | undefined {
  if (idempotencyKey === undefined) return undefined
  const key = `fork/${id}/${idempotencyKey}`
  const digest = sha256(canonical(JSON.parse(JSON.stringify(fork))))
  return { tenant, principal, agent, key, taskId: ids.uuid(), digest, createdAt: clock.now() }
}

/**
 * The id for the new task: that of the first request with the key, which may have been cut short.
 * @throws LullError `IDEMPOTENCY_KEY_REUSED`
 */
export async function claimedId({ store }: EngineContext, mine: Claim): Promise<string> {
  const known = await store.claim(mine)
  checkSame(known, mine)
  return known.taskId
}

/**
 * The task that a request with the same key has made, or what is left of it after retention. Undefined when there is none.
 * @throws LullError `IDEMPOTENCY_KEY_REUSED`
 */
export async function forkOf(
  { store, ledger }: EngineContext,
  mine: Claim | undefined,
  origin: Task,
): Promise<Task | undefined> {
  if (mine === undefined) return undefined
  const known = await store.findClaim(mine)
  if (known === undefined) return undefined
  checkSame(known, mine)
  const { taskId } = known
  // Every history begins with the message that the task was created from. A fork has that of its origin.
  const message = origin.history[0] as Message
  return (await ledger.read(taskId)) ?? remainsOf(await store.removedTask(taskId), message)
}
