/**
 * Starts a new task from the recorded past of another.
 *
 * F1  The operations before the fork point are not executed again: their records are in the log of the fork.
 * F2  The fork point is the only operation that runs next. A fork inside of parallel branches would run others again.
 * F3  The origin is not changed, and nothing of it is shared that can be written: no children, holds, webhooks or usage.
 */
import { LullError } from '../../core/errors.ts'
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
import type { ForkRequest } from '../requests.ts'
import { resume } from '../resume-task.ts'
import { agentNamed } from '../sending/create.ts'
import { type ForkPoint, forkPoint } from './fork-point.ts'

/** @throws LullError `TASK_NOT_FOUND`, `INVALID_INPUT`, `AGENT_UNKNOWN`, `OVERLOADED` */
export async function fork(
  { context, holds }: { readonly context: EngineContext; readonly holds: Pick<Holds, 'forNew'> },
  caller: Caller,
  request: ForkRequest,
): Promise<Task> {
  const { taskId: from, at, input = null, paused = false } = parse(forkInput, request)
  const origin = await taskFor(context, caller, from)
  const records = []
  for await (const record of logOf(context.store, from)) records.push(record)
  const point = forkPoint(records, at)
  await checkNext(context, origin, point)
  const { tenant, principal, agent } = origin
  await context.quotas.admit({ tenant, principal }, { tasks: 1, bytes: 0 })
  const taskId = context.ids.uuid()
  const contextId = contextBegunBy(taskId)
  const actor = actorOf(caller)
  const reason = `forked from task ${from} at ${point.name}`.slice(0, 1_000)
  const handle = mintHandle(context.ids)
  const { task } = await context.ledger.create(taskId, {
    type: 'fork',
    past: point.past,
    forked: { taskId, contextId, from, step: point.key },
    stop: { handle, actor, reason },
    holds: holds.forNew({ tenant, agent, contextId, taskId }),
  })
  if (paused || task.holds.length > 0) return task
  await resume(context, caller, { taskId, input }, actor, { anyHandle: true })
  return taskFor(context, caller, taskId)
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
