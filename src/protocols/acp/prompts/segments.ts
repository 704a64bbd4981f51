/**
 * What a prompt becomes: on an idle session a task; where the task of the session asks something, its answer; where it
 * is stopped, a message that wakes it. While one runs, prompts wait in line: each is the next task.
 */
import { isLullError, LullError } from '../../../core/errors.ts'
import type { Message, Part } from '../../../core/message.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import { offersOf } from '../../../engine/offers.ts'
import type { ResumeRequest } from '../../../engine/requests.ts'
import type { Sent } from '../../../engine/sending/sent.ts'
import { isOwn, type Meta, toPrompt, toWake } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import type { AcpContext } from '../connection/context.ts'
import { keptIn } from '../reminders/kept-reminders.ts'
import type { Attachment } from '../sessions/attachment.ts'
import { settled } from '../sessions/lines.ts'
import { agentOf, keyOf } from '../sessions/sessions.ts'
import { cancelTask } from './canceling.ts'

export interface SegmentDeps {
  readonly connection: Connection
  readonly attachment: Attachment
  readonly meta: Meta
}

/** A stretch of a task, or an answer on the spot. */
export type Segment =
  | {
      readonly taskId: string
      readonly rest: Promise<Task | undefined>
      /** Of the message it was sent as, if it was one. */
      readonly messageId?: string
    }
  | { readonly reply: Message; readonly messageId?: string }

export type Wake = Pick<ResumeRequest, 'handle' | 'input' | 'continueTranscript'>

/**
 * Undefined when the prompt was given up before it became anything.
 * @param pass lets the next one decide
 */
export async function begin(
  deps: SegmentDeps,
  parts: readonly Part[],
  canceled: AbortSignal,
  pass: () => void,
): Promise<Segment | undefined> {
  const { connection, attachment, meta } = deps
  const { acp, caller } = connection
  const { id } = attachment.session
  const key = keyOf(caller, id)
  const open = await acp.sessions.openTasks(caller, id)
  const target = toPrompt(open, meta)
  if (target !== undefined) return goOn(deps, target, parts)
  try {
    if (!acp.lines.busy(key) && !open.some(isPrompted)) return await start(deps, parts, canceled)
    const place = acp.lines.enter(key, canceled)
    pass()
    const leave = await place
    try {
      const asking = await untilIdle(deps, canceled)
      return asking === undefined
        ? await start(deps, parts, canceled)
        : await goOn(deps, asking, parts)
    } finally {
      leave()
    }
  } catch (error) {
    if (canceled.aborted && error === canceled.reason) return undefined
    throw error
  }
}

/** A task that a prompt began. */
function isPrompted(task: Task): boolean {
  return task.origin === 'acp' && isOwn(task)
}

/** Wakes the suspended task as it is told to, with the parts, if there are any, as a message to it. */
export async function wakeWith(
  deps: SegmentDeps,
  parts: readonly Part[],
  { input, continueTranscript, ...given }: Wake,
): Promise<Segment> {
  const { connection, attachment, meta } = deps
  const { acp, caller } = connection
  const { id } = attachment.session
  const handle = await ownHandle(connection, id, given.handle ?? undefined)
  const task = toWake(await acp.sessions.openTasks(caller, id), id, handle, meta)
  const { suspension } = task
  const wake = { taskId: task.id, input, continueTranscript }
  // A suspension under way, or none: the engine says what that means.
  if (suspension === undefined || (handle !== undefined && handle !== suspension.handle)) {
    await acp.engine.resume(caller, { ...wake, handle })
    if (parts.length > 0) return answer(deps, task, parts)
    return { taskId: task.id, rest: attachment.rest(task.id) }
  }
  return speak(deps, task, parts, suspension.handle, () =>
    acp.engine.resume(caller, { ...wake, handle: suspension.handle }),
  )
}

/** A client's own name for a handle, as it was told when the task parked. */
export async function ownHandle(
  { acp, caller }: Connection,
  sessionId: string,
  handle: string | undefined,
): Promise<string | undefined> {
  if (handle === undefined) return undefined
  const { aliases = {} } = await acp.sessions.get(caller, sessionId)
  return Object.hasOwn(aliases, handle) ? aliases[handle] : handle
}

async function goOn(deps: SegmentDeps, task: Task, parts: readonly Part[]): Promise<Segment> {
  const { acp, caller } = deps.connection
  const { id: taskId, suspension } = task
  if (suspension === undefined) return answer(deps, task, parts)
  const { handle, actor } = suspension
  // A prompt never lifts what an operator or a policy stopped.
  if (task.holds.length > 0 || actor.kind === 'operator' || actor.kind === 'policy') {
    throw new LullError('TASK_HELD', { taskId, holdIds: task.holds })
  }
  return speak(deps, task, parts, handle, () =>
    acp.engine.resume(caller, { taskId, handle }, { cause: 'external_event', anyHandle: true }),
  )
}

/** The message waits for the next turn, and the wake brings that about. */
async function speak(
  deps: SegmentDeps,
  { id: taskId }: Task,
  parts: readonly Part[],
  handle: string,
  wake: () => Promise<unknown>,
): Promise<Segment> {
  const { connection, attachment } = deps
  const { acp, caller } = connection
  const wakes = (record: LogRecord): boolean =>
    record.type === 'resumed' && record.handle === handle
  const { rest, forget } = attachment.restAfter(taskId, wakes)
  const message = parts.length === 0 ? undefined : messageOf(connection, parts, taskId)
  const named = message === undefined ? {} : { messageId: message.messageId }
  try {
    if (message !== undefined) await acp.engine.send(caller, { message })
    await wake()
    return { taskId, rest, ...named }
  } catch (error) {
    forget()
    if (!isLullError(error, 'TASK_NOT_PAUSED') || parts.length === 0) throw error
    // Something else woke it first; what was said is in its queue all the same.
    const { version } = await acp.engine.get(caller, taskId)
    await attachment.seen(taskId, version)
    return { taskId, rest: attachment.rest(taskId), ...named }
  }
}

async function answer(deps: SegmentDeps, task: Task, parts: readonly Part[]): Promise<Segment> {
  const { connection, attachment } = deps
  const { acp, caller } = connection
  const message = messageOf(connection, parts, task.id)
  const tells = (record: LogRecord): boolean => told(record)?.messageId === message.messageId
  const { rest, forget } = attachment.restAfter(task.id, tells)
  try {
    await acp.engine.send(caller, { message })
  } catch (error) {
    forget()
    throw error
  }
  const { messageId } = message
  if (task.parentId === undefined) return { taskId: task.id, rest, messageId }
  // The answer to a sub-task: the turn is that of the task it is a part of.
  forget()
  return { taskId: task.parentId, rest: attachment.rest(task.parentId), messageId }
}

/** The message a record carries to a task that exists. */
function told(record: LogRecord): Message | undefined {
  switch (record.type) {
    case 'answered':
    case 'message':
      return record.message
    case 'asked-again':
      return record.answer
    case 'deferred':
      return record.deferred.kind === 'answer' ? record.deferred.message : undefined
    default:
      return undefined
  }
}

async function start(
  deps: SegmentDeps,
  parts: readonly Part[],
  canceled: AbortSignal,
): Promise<Segment> {
  const { connection, attachment } = deps
  const message = messageOf(connection, parts)
  const { messageId } = message
  const sent = await create(connection, attachment.session.id, message, canceled)
  if (sent.kind === 'message') return { reply: sent.message, messageId }
  return { taskId: sent.task.id, rest: attachment.rest(sent.task.id), messageId }
}

/**
 * A new task of the session; or what the agent says without one.
 * @param canceled given up while the agent has yet to decide which, it rejects with the signal's reason
 */
export async function create(
  { acp, caller }: Connection,
  contextId: string,
  message: Message,
  canceled?: AbortSignal,
): Promise<Sent> {
  // As it is now: the agent may have been chosen since it was attached to.
  const session = await acp.sessions.get(caller, contextId)
  const { agent } = session
  const receiver = agentOf(acp.engine, session)
  // An agent without reminders gets none: they wait for a task of one that has them.
  const reminders = receiver && offersOf(receiver).reminders ? keptIn(session) : []
  const metadata = { acp: { cwd: session.cwd } }
  const request = { agent, message: { ...message, contextId }, metadata, origin: 'acp' }
  // Without `receive` the message is a task at once, and canceled as one.
  const givenUp = receiver?.receive === undefined ? undefined : canceled
  givenUp?.throwIfAborted()
  const sending = acp.engine.send(
    caller,
    reminders.length === 0 ? request : { ...request, reminders },
  )
  const sent = await settled(sending, givenUp).catch((error: unknown) => {
    if (givenUp?.aborted) cancelLate(acp, caller, sending)
    throw error
  })
  const ids = new Set(reminders.map(({ id }) => id))
  if (sent.kind === 'task' && ids.size > 0) await acp.waiting.delivered(caller, contextId, ids)
  return sent
}

/** What still comes of a prompt that was given up is canceled. */
function cancelLate(acp: AcpContext, caller: Caller, sending: Promise<Sent>): void {
  sending
    .then((sent) => (sent.kind === 'task' ? cancelTask(acp, caller, sent.task.id) : undefined))
    .catch((error: unknown) =>
      acp.log('warn', 'a prompt was given up and what came of it is not canceled', { error }),
    )
}

function messageOf({ acp, sending }: Connection, parts: readonly Part[], taskId?: string): Message {
  const messageId = acp.ids.uuid()
  sending(messageId, 'prompt')
  return { messageId, role: 'ROLE_USER', parts, ...(taskId === undefined ? {} : { taskId }) }
}

/** Until no prompt's task is open any more; a task that asks something gets what was waiting as its answer. */
async function untilIdle(
  { connection, attachment }: SegmentDeps,
  canceled: AbortSignal,
): Promise<Task | undefined> {
  const { acp, caller } = connection
  const { id } = attachment.session
  let changed: () => void = () => undefined
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      changed = resolve
    })
  let change = next()
  const unwatch = acp.watching.on(id, () => changed())
  try {
    for (;;) {
      const open = await acp.sessions.openTasks(caller, id)
      const prompted = open.filter(isPrompted)
      if (prompted.length === 0) return undefined
      const asking = prompted.find((task) => task.state === 'input-required')
      if (asking !== undefined) return asking
      await settled(change, canceled)
      change = next()
    }
  } finally {
    unwatch()
  }
}
