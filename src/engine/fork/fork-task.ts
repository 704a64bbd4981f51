/**
 * Starts a new task from the recorded past of another.
 *
 * F1  The operations before the fork point are not executed again: their records are in the log of the fork.
 * F2  The fork point is the only operation that runs next. A fork inside of parallel branches would run others again.
 * F3  The origin is not changed, and nothing of it is shared that can be written: no children, holds, webhooks or usage.
 * F4  Requests of one caller with the same idempotency key make one task, also across crashes and processes: the key is
 *     claimed before the task is created. The next request with the key finishes what the first one has begun.
 */
import { canonical } from '../../core/canonical-json.ts'
import { isLullError, LullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import { actorOf, type Caller } from '../caller.ts'
import { type EngineContext, mintHandle, taskFor } from '../context.ts'
import { contextBegunBy } from '../context-id.ts'
import type { Holds } from '../holds.ts'
import { forkInput } from '../inputs.ts'
import { logOf } from '../log-of.ts'
import { parse } from '../parse.ts'
import { pastOfTask } from '../past.ts'
import { replayCode } from '../replay/replay-code.ts'
import type { CheckedForkRequest, ForkRequest } from '../requests.ts'
import { resume } from '../resume-task.ts'
import { checkSame } from '../sending/claims.ts'
import { agentNamed } from '../sending/create.ts'
import { type ForkPoint, forkPoint } from './fork-point.ts'

/** @throws LullError `TASK_NOT_FOUND`, `INVALID_INPUT`, `AGENT_UNKNOWN`, `OVERLOADED` */
export async function fork(
  { context, holds }: { readonly context: EngineContext; readonly holds: Pick<Holds, 'forNew'> },
  caller: Caller,
  request: ForkRequest,
): Promise<Task> {
  const checked = parse(forkInput, request)
  const { taskId: from, at, input = null, paused = false } = checked
  const origin = await taskFor(context, caller, from)
  const records = []
  for await (const record of logOf(context.store, from)) records.push(record)
  const point = forkPoint(records, at)
  await checkNext(context, origin, point)
  const { tenant, principal, agent } = origin
  await context.quotas.admit({ tenant, principal }, { tasks: 1, bytes: 0 })
  const taskId = await idOfFork(context, caller, origin, checked)
  const contextId = contextBegunBy(taskId)
  const actor = actorOf(caller)
  const reason = `forked from task ${from} at ${point.name}`.slice(0, 1_000)
  const create = async (): Promise<Task> => {
    const stop = { handle: mintHandle(context.ids), actor, reason }
    const created = await context.ledger.create(taskId, () => ({
      type: 'fork',
      past: point.past,
      forked: { taskId, contextId, from, step: point.key },
      stop,
      holds: holds.forNew({ tenant, agent, contextId, taskId }),
    }))
    return created.task
  }
  const known = (): Promise<Task | undefined> => context.ledger.read(taskId)
  const task = (await known()) ?? (await create().catch(orElse(known)))
  // A task that a request with the same key has made goes on already, unless that request was cut short (F4).
  const { suspension: stop } = task
  if (paused || stop?.reason !== reason || task.holds.length > 0) return task
  const { handle } = stop
  await resume(context, caller, { taskId, handle, input }, actor).catch((error) => {
    if (!cameFirst.some((code) => isLullError(error, code))) throw error
  })
  return taskFor(context, caller, taskId)
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

/** The id of the new task, or of the one that a request with the same key has made or begun (F4). */
async function idOfFork(
  { ids, store, signer, clock }: EngineContext,
  { principal }: Caller,
  { id, tenant, agent }: Task,
  { idempotencyKey, ...fork }: CheckedForkRequest,
): Promise<string> {
  const taskId = ids.uuid()
  if (idempotencyKey === undefined) return taskId
  const key = `fork/${id}/${idempotencyKey}`
  const digest = signer.hash(canonical(JSON.parse(JSON.stringify(fork))))
  const mine = { tenant, principal, agent, key, taskId, digest, createdAt: clock.now() }
  const known = await store.claim(mine)
  checkSame(known, mine)
  return known.taskId
}

/** Runs the code over the past, without effect: it must come to the fork point and to nothing else (F2). */
async function checkNext(context: EngineContext, origin: Task, point: ForkPoint): Promise<void> {
  const agent = agentNamed(context, origin.agent)
  const { clock, ids, signer, log } = context
  const deps = { clock, ids, hash: signer.hash, log }
  const replay = await replayCode(agent, point.past, deps, await pastOfTask(context, origin))
  if (replay.verdict === 'stops' || replay.verdict === 'fails') {
    throw wrong(`the code of ${agent.name} does not come there any more: it ${replay.verdict}`)
  }
  const others = replay.goesOnFrom.filter(({ key }) => key !== point.key)
  if (others.length === 0) return
  const names = others.map(({ name }) => name).join(', ')
  throw wrong(`is in a parallel branch: ${names} would run again. Fork before the branches`)
}

function wrong(problem: string): LullError {
  return new LullError('INVALID_INPUT', { path: 'at', problem })
}
