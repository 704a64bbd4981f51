/** `session/prompt`. */
import { type PromptRequest, type PromptResponse, RequestError } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import { toIso } from '../../../core/instant.ts'
import { type Part, textOf } from '../../../core/message.ts'
import type { Task } from '../../../core/task.ts'
import { parse } from '../../../engine/parse.ts'
import { toSuspend } from '../connection/address.ts'
import { isCancellation } from '../connection/cancellation.ts'
import type { Connection } from '../connection/connection.ts'
import { INTERNAL } from '../connection/faults.ts'
import { isBlank, partOf } from '../render/content.ts'
import { contentBlocks } from '../schemas.ts'
import { keyOf } from '../sessions/sessions.ts'
import { suspendTask } from '../suspend/suspending.ts'
import { type SuspendFields, tunnelled } from '../suspend/tunnel.ts'
import { cancelTask } from './canceling.ts'
import { commandIn, runCommand } from './commands.ts'
import { begin, type Segment, type SegmentDeps, wakeWith } from './segments.ts'
import { promptResponse } from './turn-end.ts'
import type { Turn } from './turns.ts'

/** A prompt that has become something. */
export interface Begun {
  /** Of the message it was sent as; undefined where it was none. */
  readonly messageId: string | undefined
  readonly ended: Promise<PromptResponse>
}

/** Version 1: answered when the turn has ended. */
export async function prompt(
  connection: Connection,
  request: PromptRequest,
  signal: AbortSignal,
): Promise<PromptResponse> {
  return (await beginPrompt(connection, request, signal)).ended
}

export async function beginPrompt(
  connection: Connection,
  request: PromptRequest,
  signal: AbortSignal,
): Promise<Begun> {
  const { acp, caller } = connection
  const key = keyOf(caller, request.sessionId)
  // Both at once: a cancel or a suspend that follows finds the turn, and waits until it is something.
  const { turn, end } = acp.turns.begin(key, connection)
  const gate = acp.gates.enter(key)
  const cancel = (): void => {
    if (!isCancellation(signal.reason)) return
    turn.canceled.abort()
    if (turn.taskId !== undefined) void giveUp(connection, turn.taskId)
  }
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  const over = (): void => {
    end()
    signal.removeEventListener('abort', cancel)
  }
  const pass = await gate
  try {
    const segment = await become(connection, request, turn, signal, pass)
    const messageId =
      segment !== undefined && 'messageId' in segment ? segment.messageId : undefined
    return { messageId, ended: endOf(connection, request.sessionId, segment, turn).finally(over) }
  } catch (error) {
    over()
    throw error
  } finally {
    pass()
  }
}

async function become(
  connection: Connection,
  request: PromptRequest,
  turn: Turn,
  signal: AbortSignal,
  pass: () => void,
): Promise<Segment | undefined> {
  const attachment = await connection.attached(request.sessionId)
  const deps: SegmentDeps = { connection, attachment, meta: request._meta }
  const blocks = parse(contentBlocks, request.prompt, 'prompt')
  const command = commandIn(blocks, connection.acp.offers)
  return command === undefined
    ? segmentOf(deps, request, isBlank(blocks) ? [] : blocks.map(partOf), turn, signal, pass)
    : runCommand(deps, command, signal, pass)
}

async function endOf(
  connection: Connection,
  sessionId: string,
  segment: Segment | undefined,
  turn: Turn,
): Promise<PromptResponse> {
  if (segment === undefined) return { stopReason: 'cancelled' }
  if ('reply' in segment) {
    await connection.say(sessionId, segment.reply)
    return { stopReason: 'end_turn' }
  }
  turn.taskId = segment.taskId
  if (turn.canceled.signal.aborted) await giveUp(connection, segment.taskId)
  const task = await segment.rest
  // The connection has gone, and nobody reads this; or its task could not be followed.
  if (task === undefined) {
    const problem = 'The session lost sight of its task; load it again to see how it stands'
    throw new RequestError(INTERNAL, problem)
  }
  return promptResponse(connection.acp.facts, task)
}

async function segmentOf(
  deps: SegmentDeps,
  request: PromptRequest,
  says: readonly Part[],
  turn: Turn,
  signal: AbortSignal,
  pass: () => void,
): Promise<Segment | undefined> {
  const { acp } = deps.connection
  const { sessionId, _meta } = request
  const carried = tunnelled(_meta, sessionId, acp.config.harnTunnel)
  if (carried?.op === 'wake') return wakeWith(deps, says, carried.request)
  if (carried === undefined || says.length > 0) await entitle(deps, says)
  const segment =
    says.length === 0 && carried !== undefined
      ? undefined
      : await begin(deps, says, turn.canceled.signal, pass)
  if (carried === undefined) return segment
  pass()
  return suspended(deps, segment, carried.request, signal)
}

/** A suspend that came with a prompt: of what the prompt became, or, where it said nothing, of what runs. */
async function suspended(
  { connection, attachment, meta }: SegmentDeps,
  segment: Segment | undefined,
  { reason, mode, resumeWhen }: SuspendFields,
  signal: AbortSignal,
): Promise<Segment | undefined> {
  if (segment !== undefined && 'reply' in segment) return segment
  const { acp, caller } = connection
  const { id } = attachment.session
  const taskId = segment?.taskId ?? toSuspend(await acp.sessions.openTasks(caller, id), id, meta).id
  const request = { taskId, reason, mode, conditions: resumeWhen }
  const task = await suspendTask(acp, caller, request, signal)
  await attachment.seen(taskId, task.version)
  return segment ?? { taskId, rest: Promise.resolve<Task | undefined>(task) }
}

/** Its first words are the session's title, and it was spoken in just now. */
async function entitle(
  { connection, attachment }: SegmentDeps,
  parts: readonly Part[],
): Promise<void> {
  if (parts.length === 0) {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: 'must say something' })
  }
  const { acp, caller } = connection
  const { id } = attachment.session
  const updatedAt = acp.clock.now()
  let first = false
  const { title } = await acp.sessions.change(caller, id, (session) => {
    first = session.title === undefined
    return { updatedAt, title: session.title ?? titleFrom(parts) }
  })
  if (!first) return
  await connection.peer().update(id, {
    sessionUpdate: 'session_info_update',
    title: title ?? '',
    updatedAt: toIso(updatedAt),
  })
}

const TITLE = 80

function titleFrom(parts: readonly Part[]): string {
  const words = textOf({ parts }).trim().split('\n')[0] ?? ''
  return words.length > TITLE ? `${words.slice(0, TITLE - 1)}…` : words
}

async function giveUp({ acp, caller }: Connection, taskId: string): Promise<void> {
  try {
    await cancelTask(acp, caller, taskId)
  } catch (error) {
    acp.log('error', 'a prompt was given up and its task could not be canceled', { taskId, error })
  }
}
