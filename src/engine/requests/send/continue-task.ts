/**
 * A message to an existing task. It answers the task's question, or it is queued for the next turn.
 *
 * An explicit idempotency key is claimed in the commit that takes the message. Of two sends with one key, in whatever
 * processes, one delivers. The record of the message contains the key too: an older version claimed the key first, and a
 * claim without such a record means that the message was not delivered.
 */

import type { Command, Decider } from '../../../core/commands.ts'
import { isLullError, LullError } from '../../../core/errors.ts'
import { deliveredBy } from '../../../core/messages/delivered.ts'
import { type Message, messageTo } from '../../../core/messages/message.ts'
import { valuesIn } from '../../../core/messages/message-values.ts'
import { chosenIn } from '../../../core/messages/question-part.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Decision, LogRecord, Question, RunToken } from '../../../core/records.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import { actorOf, type Caller, isStarter, maySee, tenantOf } from '../../caller.ts'
import { type EngineContext, taskFor } from '../../context.ts'
import { checkBySchema } from '../../input/check-by-schema.ts'
import { logOf } from '../../ledger/log-of.ts'
import { remainsOf } from '../removed-task.ts'
import { type ConsentAnswer, consentIn, structuredConsentIn } from './answered-consent.ts'
import { checkSame, claimFor, isKey } from './claims.ts'
import type { AnswerTaken, Incoming, Sending, SendResult } from './send-result.ts'
import { sentReminders } from './sent-reminders.ts'

export async function continueTask(
  sending: Sending,
  incoming: Incoming,
  found: Task,
): Promise<SendResult> {
  const { context, inFlight } = sending
  const { message, idempotencyKey } = incoming.request
  if (message.contextId !== undefined && message.contextId !== found.contextId) {
    const problem = `is not the context of task ${found.id}`
    throw new LullError('INVALID_INPUT', { path: 'message.contextId', problem })
  }
  const claim =
    idempotencyKey === undefined ? undefined : claimFor(context, incoming, found.agent, found.id)
  if (claim === undefined) return deliver(context, incoming, found)
  return inFlight.once(claim, async () => {
    const known = await context.store.findClaim(claim)
    if (known === undefined) return deliver(context, incoming, found, claim)
    checkSame(known, claim)
    return (await hasRecord(context, found, claim))
      ? repeatOf(found)
      : deliver(context, incoming, found)
  })
}

/** Answers a repeated message to a task that retention has removed. Undefined if the message is not such a repeat. */
export async function repeatToRemoved(
  context: EngineContext,
  incoming: Incoming,
  taskId: string,
): Promise<SendResult | undefined> {
  const { message, idempotencyKey } = incoming.request
  const { tenant } = incoming.caller
  if (idempotencyKey === undefined) return
  if ((await context.ledger.read(taskId, tenantOf(incoming.caller))) !== undefined) return
  const row = await context.store.removedTask(tenant, taskId)
  if (row === undefined || !maySee(incoming.caller, row)) return
  const claim = claimFor(context, incoming, row.agent, taskId)
  const known = claim && (await context.store.findClaim(claim))
  const task = remainsOf(row, message)
  if (claim === undefined || known === undefined || task === undefined) return
  checkSame(known, claim)
  return repeatOf(task)
}

function repeatOf(task: Task): SendResult {
  return { kind: 'task', task, laterRecords: [], latest: task, repeated: true }
}

/** Whether a message was delivered under the key. */
async function hasRecord({ store }: EngineContext, task: Task, claim: Claim): Promise<boolean> {
  for await (const record of logOf(store, task)) {
    if (deliveredBy(record)?.idempotencyKey === claim.key) return true
  }
  return false
}

async function deliver(
  context: EngineContext,
  incoming: Incoming,
  found: Task,
  claim?: Claim,
): Promise<SendResult> {
  const { agents, runs } = context
  const { caller } = incoming
  const { message, idempotencyKey, onlyAnswer } = incoming.request
  const bytes = weightOf(message)
  // An answer is taken also at a limit, because the task cannot end without it.
  if (!isInterrupted(found.state)) await context.quotas.admit(found, { tasks: 0, bytes })
  await remindFirst(context, incoming, found)
  const answerTo = (question: Question): Partial<Command & { readonly type: 'message' }> => {
    const { consent } = question
    if (consent !== undefined) {
      const given = consentIn(context, message, agents.get(found.agent))
      const wrongEdit = given.decision === 'granted' ? wrongOperation(consent, given) : undefined
      return { ...given, ...(wrongEdit && { wrong: wrongEdit }), decider: deciderOf(caller, found) }
    }
    const wrong = wrongAnswer(question, message)
    return wrong === undefined ? {} : { wrong }
  }
  const command = (now: Task | undefined, run: RunToken | undefined): Command => ({
    type: 'message',
    actor: actorOf(caller),
    ...(onlyAnswer || !isStarter(caller, found) ? { onlyAnswer: true } : {}),
    message: messageTo(message, found.id, found.contextId),
    ...(idempotencyKey === undefined ? { once: isKey(context, message) } : { idempotencyKey }),
    ...(now?.question === undefined ? structuredConsentIn(message) : answerTo(now.question)),
    limits: context.options,
    ...(run === undefined ? {} : { run }),
  })
  const { push } = incoming
  const committed = await runs.commit(found.id, found, command, {
    claim,
    push,
    bytes,
  })
  if (claim !== undefined && committed.claimed !== undefined) {
    checkSame(committed.claimed, claim)
    return repeatOf(committed.task)
  }
  const { task, records, laterRecords, latest } = committed
  const answered = answerIn(records)
  const isRepeated = records.length === 0
  return { kind: 'task', task, laterRecords, latest, repeated: isRepeated, ...answered }
}

/** What the records of a message say about the question of the task. */
function answerIn(records: readonly LogRecord[]): { readonly answered?: AnswerTaken } {
  for (const record of records) {
    if (record.type === 'answered') return { answered: takenFrom(record.decision) }
    if (record.type === 'deferred' && record.deferred.kind === 'answer') {
      return { answered: { ...takenFrom(record.deferred.decision), isKept: true } }
    }
  }
  return {}
}

function takenFrom(decision: Decision | undefined): AnswerTaken {
  return { isAnswer: true, ...(decision === undefined ? {} : { decision }) }
}

/** Reminders are written before their message, so that the turn that sees the message sees them too. */
async function remindFirst(
  context: EngineContext,
  { caller, request }: Incoming,
  { id, agent }: Task,
): Promise<void> {
  if (request.reminders === undefined) return
  await taskFor(context, caller, id, 'control')
  const limit = context.options.pendingReminders
  for (const reminder of sentReminders(context, caller, context.agents.get(agent), request)) {
    await context.ledger.commit(id, { type: 'remind', reminder, limit })
  }
}

function deciderOf(caller: Caller, task: Task): Decider {
  const { principal, scopes = [] } = caller
  return { principal, isStarter: isStarter(caller, task), scopes: [...scopes] }
}

/** Undefined: the operation is the one that was asked for, or may stand in its place. */
function wrongOperation(
  { editable, digest }: NonNullable<Question['consent']>,
  { content }: ConsentAnswer,
): WrongAnswer | undefined {
  const operation = content?.operation
  if (operation === undefined || sha256(canonical(operation)) === digest) return undefined
  if (editable === undefined) return { path: 'operation', problem: 'is not editable' }
  try {
    checkBySchema(editable, operation, 'operation')
    return undefined
  } catch (error) {
    if (isLullError(error, 'INVALID_INPUT')) return error.details
    throw error
  }
}

/** Checks an answer before it is written, in any process: what the question recorded is enough. */
interface WrongAnswer {
  readonly path: string
  readonly problem: string
}

/** Undefined: the answer is acceptable. The agent's own schema may still refuse it, and the run then asks again. */
function wrongAnswer(
  { choices, schema }: Pick<Question, 'choices' | 'schema'>,
  message: Message,
): WrongAnswer | undefined {
  if (choices !== undefined) {
    if (chosenIn(choices, message) !== undefined) return undefined
    const offered = choices.map(({ value }) => value).join(', ')
    return { path: `message.${valuesIn(message)[0].path}`, problem: `must be one of ${offered}` }
  }
  if (schema === undefined) return undefined
  const [first, ...others] = valuesIn(message).map((one) => problemIn(schema, one))
  return others.includes(undefined) ? undefined : first
}

function problemIn(
  schema: JsonObject,
  { value, path }: ReturnType<typeof valuesIn>[number],
): WrongAnswer | undefined {
  try {
    checkBySchema(schema, value, `message.${path}`)
    return undefined
  } catch (error) {
    if (isLullError(error, 'INVALID_INPUT')) return error.details
    throw error
  }
}
