/**
 * Starts a new task from the recorded past of another.
 *
 * F1  The operations before the fork point are not executed again: their records are in the log of the fork.
 * F2  The fork point is the only operation that runs next. A fork inside of parallel branches would run others again.
 * F3  The origin is not changed, and nothing of it is shared that can be written: no children, holds, webhooks or usage.
 * F4  Requests of one caller with the same idempotency key make one task, also across crashes and processes: the key is
 *     claimed before the task is created. The next request with the key finishes what the first one has begun. After
 *     retention it is answered with what is left of the task.
 */

import { z } from 'zod'
import { isLullError, LullError } from '../../../core/errors.ts'
import type { Message } from '../../../core/messages/message.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { Actor } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import type { Json, JsonInput } from '../../../core/values/json.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import { actorOf, type Caller } from '../../caller.ts'
import { type EngineContext, mintHandle, taskFor } from '../../context.ts'
import type { FieldsOf } from '../../input/exhaustive.ts'
import { json } from '../../input/json-input.ts'
import { check } from '../../input/parse.ts'
import { id } from '../../input/primitives.ts'
import { logOf } from '../../ledger/log-of.ts'
import { describeKey } from '../../run/replay/keys.ts'
import { contextBegunBy } from '../context-id.ts'
import { pastOfTask } from '../past.ts'
import { remainsOf } from '../removed-task.ts'
import { replayCode } from '../replay/replay-code.ts'
import { resume } from '../resume-task.ts'
import { checkSame } from '../send/claims.ts'
import { agentNamed } from '../send/create.ts'
import { createInFlight } from '../send/in-flight.ts'
import type { Verb } from '../verb.ts'
import { type ForkPoint, forkPoint } from './fork-point.ts'

export interface ForkRequest {
  /** The task that is forked: the new task gets a copy of its recorded past. It may have ended. */
  readonly taskId: string
  /**
   * The operation that runs next: the name of a step or tool, `park` or `ask`, with `#2` for the second of that name; its
   * key in the journal; or the number of its record.
   */
  readonly at: string
  /** What the new task gets as the input of its wake. */
  readonly input?: JsonInput | undefined
  /** The new task stays paused until it is resumed. */
  readonly paused?: boolean | undefined
  /** A second request of the same caller with the same key gets the task of the first one. */
  readonly idempotencyKey?: string | undefined
}

export interface CheckedForkRequest extends ForkRequest {
  readonly input?: Json | undefined
}

const fields = {
  at: z.string().min(1, 'must name a step').max(1_024),
  input: json.optional(),
  paused: z.boolean().optional(),
  idempotencyKey: z.string().min(1).max(256).optional(),
} satisfies FieldsOf<Omit<CheckedForkRequest, 'taskId'>>

/** A request whose task is named elsewhere. */
export const forkBody: z.ZodType<Omit<CheckedForkRequest, 'taskId'>> = z.strictObject(fields)

export const forkVerb: Verb<'fork', CheckedForkRequest> = {
  input: z.strictObject({ taskId: id, ...fields }),
  audited: 'task.fork',
  limited: false,
  scope: 'tasks:write',
  act: 'control',
  method: ({ context }) => createFork(context),
}

/** @throws LullError `TASK_NOT_FOUND`, `INVALID_INPUT`, `AGENT_UNKNOWN`, `LIMIT_EXCEEDED`, `OVERLOADED` */
export type Fork = (caller: Caller, request: ForkRequest) => Promise<Task>

export function createFork(context: EngineContext): Fork {
  const inFlight = createInFlight<Task>((task) => task)
  return async (caller, request) => {
    const checked = check(forkVerb.input, request)
    const origin = await taskFor(context, caller, checked.taskId, forkVerb.act)
    const claim = claimOfFork(context, caller, origin, checked)
    const fork = (): Promise<Task> => forkOnce(context, caller, checked, origin, claim)
    return claim === undefined ? fork() : inFlight.once(claim, fork)
  }
}

async function forkOnce(
  context: EngineContext,
  caller: Caller,
  { at, input = null, paused = false }: CheckedForkRequest,
  origin: Task,
  claim: Claim | undefined,
): Promise<Task> {
  const known = (): Promise<Task | undefined> => forkOf(context, claim, origin)
  // A repeated request is answered before anything is checked that may have changed since the first one (F4).
  const create = () => createStopped(context, actorOf(caller), origin, at, claim)
  const task = (await known()) ?? (await create().catch(orElse(known)))
  // A task that a request with the same key has made goes on already, unless that request was cut short (F4).
  const { id: taskId, suspension: stop } = task
  if (paused || !stop?.byFork || task.holds.length > 0) return task
  const { handle } = stop
  await resume(context, caller, { taskId, handle, input }).catch((error) => {
    if (!cameFirst.some((code) => isLullError(error, code))) throw error
  })
  return taskFor(context, caller, taskId, 'read')
}

/** Another request with the same key has resumed the fork, which may have stopped again since, or a hold has stopped it. */
const cameFirst = ['TASK_NOT_PAUSED', 'RESUME_HANDLE_MISMATCH', 'TASK_HELD'] as const

/** The task that another request with the same key has created meanwhile. */
function orElse(known: () => Promise<Task | undefined>): (error: unknown) => Promise<Task> {
  return async (error) => {
    const task = await known()
    if (task === undefined) throw error
    return task
  }
}

/** Creates the task, stopped. */
async function createStopped(
  context: EngineContext,
  actor: Actor,
  origin: Task,
  at: string,
  claim: Claim | undefined,
): Promise<Task> {
  const { id: from, tenant, principal, agent } = origin
  const records = []
  for await (const record of logOf(context.store, origin)) records.push(record)
  const { past, key: step } = await checkedPoint(context, origin, forkPoint(records, at))
  const added = { tasks: 1, bytes: 0, copiedBytes: weightOf(past) } as const
  await context.quotas.admit({ tenant, principal }, added)
  const taskId = claim === undefined ? context.ids.uuid() : await claimedId(context, claim)
  const contextId = contextBegunBy(taskId)
  const reason = `forked from task ${from} at ${describeKey(step)}`.slice(0, 1_000)
  const stop = { handle: mintHandle(context.ids), actor, reason }
  const { task } = await context.ledger.create(taskId, (holdsFor) => ({
    type: 'fork',
    past,
    forked: { taskId, contextId, from, step },
    stop,
    holds: holdsFor({ tenant, agent, contextId, taskId }),
  }))
  return task
}

/** Runs the code over the past, without effect: it must come to the fork point and to nothing else (F2). */
async function checkedPoint(
  context: EngineContext,
  origin: Task,
  point: ForkPoint,
): Promise<ForkPoint> {
  const agent = agentNamed(context, origin.agent)
  const { clock, ids, log } = context
  const replay = await context.table.during(agent, async () =>
    replayCode(agent, point.past, { clock, ids, log }, await pastOfTask(context, origin)),
  )
  if (replay.verdict === 'stops' || replay.verdict === 'fails') {
    throw wrong(`the code of ${agent.name} does not come there any more: it ${replay.verdict}`)
  }
  const others = replay.goesOnFrom.filter(({ key }) => key !== point.key)
  if (others.length === 0) return point
  const names = others.map(({ name }) => name).join(', ')
  throw wrong(`is in a parallel branch: ${names} would run again. Fork before the branches`)
}

function wrong(problem: string): LullError {
  return new LullError('INVALID_INPUT', { path: 'at', problem })
}

/**
 * The claim binds the idempotency key of the request to the id of the new task, before that task exists. Undefined if the
 * request has no key.
 */
function claimOfFork(
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
async function claimedId({ store }: EngineContext, mine: Claim): Promise<string> {
  const known = await store.claim(mine)
  checkSame(known, mine)
  return known.taskId
}

/**
 * The task that a request with the same key has made, or what is left of it after retention. Undefined when there is none.
 * @throws LullError `IDEMPOTENCY_KEY_REUSED`
 */
async function forkOf(
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
  return (
    (await ledger.read(taskId, origin.tenant)) ??
    remainsOf(await store.removedTask(origin.tenant, taskId), message)
  )
}
