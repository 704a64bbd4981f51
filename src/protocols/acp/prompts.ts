/**
 * `session/prompt`. On an idle session it starts a task; where the task of the session waits for an answer it is the
 * answer; where it is stopped, it wakes it with the prompt as a message. While one runs, prompts wait in line: each is
 * the next task.
 */
import { type PromptRequest, type PromptResponse, RequestError } from '@agentclientprotocol/sdk'
import { isLullError, LullError } from '../../core/errors.ts'
import type { Message, Part } from '../../core/message.ts'
import type { LogRecord } from '../../core/records.ts'
import { isInterrupted, isPaused } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Attachment } from './attachment.ts'
import { partOf } from './content.ts'
import type { AcpContext } from './context.ts'
import { INTERNAL } from './faults.ts'
import { settled } from './lines.ts'
import type { Session } from './sessions.ts'
import type { Turn } from './turns.ts'

export interface PromptDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly attachment: Attachment
  /** Remembers what this connection sent, so that it is not told again. */
  readonly sending: (messageId: string) => void
  /** Says something outside any task. */
  readonly say: (message: Message) => Promise<void>
}

/** What a prompt became: a stretch of a task, or an answer on the spot. */
type Segment =
  | { readonly taskId: string; readonly rest: Promise<Task | undefined> }
  | { readonly reply: Message }

export async function prompt(
  deps: PromptDeps,
  request: PromptRequest,
  turn: Turn,
): Promise<PromptResponse> {
  const { acp, caller } = deps
  if (request.prompt.length === 0) {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: 'must not be empty' })
  }
  const segment = await begin(deps, request.prompt.map(partOf), turn)
  if (segment === undefined) return { stopReason: 'cancelled' }
  if ('reply' in segment) {
    await deps.say(segment.reply)
    return { stopReason: 'end_turn' }
  }
  turn.taskId = segment.taskId
  if (turn.canceled.signal.aborted) await cancelTask(acp, caller, segment.taskId)
  const task = await segment.rest
  // The connection is gone: nobody reads what is answered.
  if (task === undefined) throw new RequestError(INTERNAL, 'The connection was closed')
  return responseOf(acp, task)
}

/** Undefined when the prompt was given up before it became anything. */
async function begin(
  deps: PromptDeps,
  parts: readonly Part[],
  turn: Turn,
): Promise<Segment | undefined> {
  const { acp, caller, attachment } = deps
  const { session } = attachment
  const pass = await acp.gates.enter(session.id)
  try {
    const target = eligible(await acp.sessions.openTasks(caller, session.id))
    if (target !== undefined) return await goOn(deps, target, parts)
  } finally {
    pass()
  }
  const { signal } = turn.canceled
  try {
    const leave = await acp.lines.enter(session.id, signal)
    try {
      const asking = await untilIdle(acp, caller, session, signal)
      return asking === undefined ? await start(deps, parts) : await goOn(deps, asking, parts)
    } finally {
      leave()
    }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined
    throw error
  }
}

/** The task a prompt speaks to: the only one that is stopped. */
function eligible(open: readonly Task[]): Task | undefined {
  const stopped = open.filter(
    ({ state, parentId }) => isInterrupted(state) || (isPaused(state) && parentId === undefined),
  )
  if (stopped.length < 2) return stopped[0]
  throw new LullError('INVALID_INPUT', {
    path: '_meta.lull.taskId',
    problem: `is ambiguous: ${stopped.map(({ id }) => id).join(', ')} are stopped; name one`,
  })
}

async function goOn(deps: PromptDeps, task: Task, parts: readonly Part[]): Promise<Segment> {
  const { acp, caller, attachment } = deps
  const { id: taskId, suspension } = task
  if (suspension !== undefined && (task.holds.length > 0 || !liftable(task))) {
    throw new LullError('TASK_HELD', { taskId, holdIds: task.holds })
  }
  const message = messageOf(deps, parts, taskId)
  const { rest, forget } = attachment.restAfter(
    taskId,
    suspension === undefined ? tells(message.messageId) : wakes(suspension.handle),
  )
  try {
    await acp.engine.send(caller, { message })
    if (suspension !== undefined) await wake(acp, caller, taskId, suspension.handle)
    return { taskId, rest }
  } catch (error) {
    forget()
    throw error
  }
}

async function wake(
  { engine }: AcpContext,
  caller: Caller,
  taskId: string,
  handle: string,
): Promise<void> {
  try {
    await engine.resume(caller, { taskId, handle }, { cause: 'external_event' })
  } catch (error) {
    // Something else woke it first; the message is in its queue all the same.
    if (!isLullError(error, 'TASK_NOT_PAUSED')) throw error
  }
}

/** A prompt never lifts what an operator or a policy stopped. */
function liftable({ suspension }: Task): boolean {
  const kind = suspension?.actor.kind
  return kind !== 'operator' && kind !== 'policy'
}

async function start(deps: PromptDeps, parts: readonly Part[]): Promise<Segment> {
  const { acp, caller, attachment } = deps
  const { id, agent } = attachment.session
  const message = { ...messageOf(deps, parts), contextId: id }
  const sent = await acp.engine.send(caller, { agent, message, origin: 'acp' })
  if (sent.kind === 'message') return { reply: sent.message }
  return { taskId: sent.task.id, rest: attachment.rest(sent.task.id) }
}

function messageOf(deps: PromptDeps, parts: readonly Part[], taskId?: string): Message {
  const messageId = deps.acp.ids.uuid()
  deps.sending(messageId)
  return { messageId, role: 'ROLE_USER', parts, ...(taskId === undefined ? {} : { taskId }) }
}

function tells(messageId: string): (record: LogRecord) => boolean {
  return (record) => told(record)?.messageId === messageId
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

function wakes(handle: string): (record: LogRecord) => boolean {
  return (record) => record.type === 'resumed' && record.handle === handle
}

/** Until no prompt's task is open any more; a task that asks something gets what was waiting as its answer. */
async function untilIdle(
  { engine, sessions }: AcpContext,
  caller: Caller,
  { id }: Session,
  signal: AbortSignal,
): Promise<Task | undefined> {
  let changed: () => void = () => undefined
  let change = new Promise<void>((resolve) => {
    changed = resolve
  })
  const unwatch = engine.watch((task) => {
    if (task.contextId === id) changed()
  })
  try {
    for (;;) {
      const open = await sessions.openTasks(caller, id)
      const prompted = open.filter((task) => task.origin === 'acp' && task.parentId === undefined)
      if (prompted.length === 0) return undefined
      const asking = prompted.find((task) => task.state === 'input-required')
      if (asking !== undefined) return asking
      await settled(change, signal)
      change = new Promise((resolve) => {
        changed = resolve
      })
    }
  } finally {
    unwatch()
  }
}

export async function cancelTask(
  { engine }: AcpContext,
  caller: Caller,
  taskId: string,
): Promise<void> {
  try {
    await engine.cancel(caller, { taskId, reason: 'the user canceled it' })
  } catch (error) {
    // It ended first.
    if (!isLullError(error, 'TASK_TERMINAL')) throw error
  }
}

function responseOf({ facts }: AcpContext, task: Task): PromptResponse {
  const _meta = facts.ofTask(task)
  if (task.state === 'failed') {
    const why = task.failure?.message ?? 'The task failed'
    throw new RequestError(INTERNAL, why, { reason: 'failed', taskId: task.id })
  }
  if (task.state === 'canceled') return { stopReason: 'cancelled', _meta }
  return { stopReason: task.state === 'rejected' ? 'refusal' : 'end_turn', _meta }
}
