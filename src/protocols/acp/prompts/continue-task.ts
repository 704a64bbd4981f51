/**
 * Sends a prompt to an open task: as the answer to its question, as a message that wakes it, or as
 * a message for later.
 *
 *  C1  A prompt wakes a task that the agent parked or that was suspended over ACP.
 *  C2  A prompt is refused while a hold, an operator or a policy stops the task.
 *  C3  A prompt does not end a pause that came by another protocol. If the client declares the RFC,
 *      a prompt ends no stop at all, because such a client has `session/resume`. In both cases the
 *      task gets the prompt as a message for later, and a reply says how to resume.
 */
import { isLullError, LullError } from '../../../core/errors.ts'
import { deliveredBy } from '../../../core/messages/delivered.ts'
import type { Part } from '../../../core/messages/message.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Suspension } from '../../../core/suspension.ts'
import type { Task } from '../../../core/task.ts'
import { toWake } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import type { Peer } from '../connection/peer.ts'
import { promptMessage } from './create-task.ts'
import { ownReply, type PromptDeps, type PromptOutcome, type Wake } from './prompt-outcome.ts'

export async function continueTask(
  deps: PromptDeps,
  task: Task,
  parts: readonly Part[],
): Promise<PromptOutcome> {
  const { acp, caller, peer } = deps.connection
  const { id: taskId, suspension } = task
  if (suspension === undefined) return answer(deps, task, parts)
  const { handle, actor } = suspension
  if (task.holds.length > 0 || actor.kind === 'operator' || actor.kind === 'policy') {
    throw new LullError('TASK_HELD', { taskId, holdIds: task.holds })
  }
  if (!isLiftedByPrompt(suspension, peer())) return keep(deps, task, suspension, parts)
  return sendAndWake(deps, task, parts, handle, () =>
    acp.engine.resume(caller, { taskId, handle }, { cause: 'external_event', anyHandle: true }),
  )
}

function isLiftedByPrompt({ initiator, origin }: Suspension, { facts }: Peer): boolean {
  return !facts.rfc && (initiator === 'agent' || origin === 'acp')
}

/** Adds the message to a task that stays stopped. The task reads it after its wake. */
async function keep(
  deps: PromptDeps,
  { id: taskId }: Task,
  suspension: Suspension,
  parts: readonly Part[],
): Promise<PromptOutcome> {
  const { connection, attachment } = deps
  const { acp, caller, peer } = connection
  await acp.engine.send(caller, { message: promptMessage(deps, parts, taskId) })
  const about = await acp.engine.get(caller, taskId)
  await attachment.seen(taskId, about.version)
  // The task was woken meanwhile, and reads the message now.
  if (about.suspension?.handle !== suspension.handle) {
    return { taskId, settled: attachment.settled(taskId), recorded: true }
  }
  const reply = ownReply(connection, keptText(suspension, peer().facts.rfc))
  return { reply, about, recorded: true }
}

function keptText({ initiator, actor, reason }: Suspension, rfc: boolean): string {
  const who = initiator === 'agent' ? 'Parked by the agent' : `Paused by ${actor.id}`
  const why = reason === undefined || reason === '' ? '' : `: ${reason}`
  const how = rfc ? '`session/resume`' : '`/resume`'
  return `${who}${why}. Your message is kept for when the task goes on. ${how} goes on.`
}

/** Wakes the suspended task, and sends it `parts`, if any, as a message. */
export async function wakeTask(
  deps: PromptDeps,
  parts: readonly Part[],
  { input, continueTranscript, ...given }: Wake,
): Promise<PromptOutcome> {
  const { connection, attachment, meta } = deps
  const { acp, caller } = connection
  const { id } = attachment.session
  const handle = await ownHandle(connection, id, given.handle ?? undefined)
  const task = toWake(await acp.sessions.openTasks(caller, id), id, handle, meta)
  const { suspension } = task
  const wake = { taskId: task.id, input, continueTranscript }
  // The pause has not committed yet, or the handle is that of another stop. The engine decides.
  if (suspension === undefined || (handle !== undefined && handle !== suspension.handle)) {
    await acp.engine.resume(caller, { ...wake, handle })
    if (parts.length > 0) return answer(deps, task, parts)
    return { taskId: task.id, settled: attachment.settled(task.id), recorded: false }
  }
  return sendAndWake(deps, task, parts, suspension.handle, () =>
    acp.engine.resume(caller, { ...wake, handle: suspension.handle }),
  )
}

/** Translates an alias that the client chose when the task parked to the handle. */
export async function ownHandle(
  { acp, caller }: Connection,
  sessionId: string,
  handle: string | undefined,
): Promise<string | undefined> {
  if (handle === undefined) return undefined
  const { aliases = {} } = await acp.sessions.get(caller, sessionId)
  return Object.hasOwn(aliases, handle) ? aliases[handle] : handle
}

/** The message is sent before the wake, so that the first turn after the wake reads it. */
async function sendAndWake(
  deps: PromptDeps,
  { id: taskId }: Task,
  parts: readonly Part[],
  handle: string,
  wake: () => Promise<unknown>,
): Promise<PromptOutcome> {
  const { connection, attachment } = deps
  const { acp, caller } = connection
  const wakes = (record: LogRecord): boolean =>
    record.type === 'resumed' && record.handle === handle
  const { settled, forget } = attachment.settledAfter(taskId, wakes)
  const recorded = parts.length > 0
  try {
    if (recorded) await acp.engine.send(caller, { message: promptMessage(deps, parts, taskId) })
    await wake()
    return { taskId, settled, recorded }
  } catch (error) {
    forget()
    if (!isLullError(error, 'TASK_NOT_PAUSED') || !recorded) throw error
    // The task was woken by something else first. It has the message.
    const { version } = await acp.engine.get(caller, taskId)
    await attachment.seen(taskId, version)
    return { taskId, settled: attachment.settled(taskId), recorded }
  }
}

async function answer(
  deps: PromptDeps,
  task: Task,
  parts: readonly Part[],
): Promise<PromptOutcome> {
  const { connection, attachment } = deps
  const { acp, caller } = connection
  const message = promptMessage(deps, parts, task.id)
  const carries = (record: LogRecord): boolean =>
    deliveredBy(record)?.message?.messageId === message.messageId
  const { settled, forget } = attachment.settledAfter(task.id, carries)
  try {
    await acp.engine.send(caller, { message })
  } catch (error) {
    forget()
    throw error
  }
  if (task.parentId === undefined) return { taskId: task.id, settled, recorded: true }
  // The prompt answered a child, and ends together with the parent.
  forget()
  return { taskId: task.parentId, settled: attachment.settled(task.parentId), recorded: true }
}
