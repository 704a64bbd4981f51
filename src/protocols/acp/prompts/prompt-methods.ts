/** The method `session/prompt`. */

import { type ContentBlock, type PromptResponse, RequestError } from '@agentclientprotocol/sdk'
import { LullError } from '../../../core/errors.ts'
import { type Part, textOf } from '../../../core/messages/message.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import { parse } from '../../../engine/input/parse.ts'
import { isOwn, type Meta, toPrompt, toSuspend } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import { INTERNAL, isCancellation } from '../connection/faults.ts'
import { isBlank, partOf } from '../render/content.ts'
import { contentBlocks } from '../schemas/requests.ts'
import { abortable } from '../sessions/queues.ts'
import { keyOf } from '../sessions/sessions.ts'
import { suspendTask } from '../suspend/suspending.ts'
import { readTunnelled, type SuspendFields } from '../suspend/tunnel.ts'
import { commandIn, runCommand } from './commands.ts'
import { continueTask, wakeTask } from './continue-task.ts'
import { startTask } from './create-task.ts'
import { cancelTask, type OpenPrompt } from './open-prompts.ts'
import { type PromptDeps, type PromptOutcome, promptResponse } from './prompt-outcome.ts'

/** The fields of a prompt that version 1 and version 2 have in common. The blocks are not parsed. */
export interface PromptFields {
  readonly sessionId: string
  readonly prompt: readonly unknown[]
  readonly _meta?: Meta
}

/** A prompt that was passed to a task or queued. */
export interface BegunPrompt {
  /** Undefined: the prompt was canceled before it was sent. */
  readonly messageId: string | undefined
  readonly ended: Promise<PromptResponse>
}

/** Version 1: the prompt is answered when its work has ended. */
export async function prompt(
  connection: Connection,
  request: PromptFields,
  signal: AbortSignal,
): Promise<PromptResponse> {
  return (await beginPrompt(connection, request, signal)).ended
}

export async function beginPrompt(
  connection: Connection,
  request: PromptFields,
  signal: AbortSignal,
): Promise<BegunPrompt> {
  const { acp, caller } = connection
  const { sessionId } = request
  const key = keyOf(caller, sessionId)
  // Both calls come before the first await: a later cancel or suspend must find the prompt, and
  // wait until it is routed.
  const { prompt, close } = acp.openPrompts.open(key, connection)
  const locked = acp.sessionLocks.enter(key)
  const cancel = (): void => {
    if (!isCancellation(signal.reason)) return
    prompt.canceled.abort()
    if (prompt.taskId !== undefined) void giveUp(connection, prompt.taskId)
  }
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  const over = (): void => {
    close()
    signal.removeEventListener('abort', cancel)
  }
  const unlock = await locked
  const messageId = acp.ids.uuid()
  try {
    const outcome = await outcomeOf(connection, request, messageId, prompt, signal, unlock)
    if (outcome !== undefined && !outcome.recorded) {
      await connection.peer().echo?.(sessionId, messageId, blocksOf(request))
    }
    const ended = endOf(connection, sessionId, outcome, prompt).finally(over)
    return { messageId: outcome === undefined ? undefined : messageId, ended }
  } catch (error) {
    over()
    throw error
  } finally {
    unlock()
  }
}

async function outcomeOf(
  connection: Connection,
  request: PromptFields,
  messageId: string,
  prompt: OpenPrompt,
  signal: AbortSignal,
  unlock: () => void,
): Promise<PromptOutcome | undefined> {
  const attachment = await connection.attached(request.sessionId)
  const deps: PromptDeps = { connection, attachment, meta: request._meta, messageId }
  const blocks = blocksOf(request)
  const command = commandIn(blocks, connection.acp.offers)
  if (command !== undefined) return runCommand(deps, command, signal, unlock)
  const parts = isBlank(blocks) ? [] : blocks.map(partOf)
  const { harnTunnel } = connection.acp.config
  const carried = readTunnelled(request._meta, request.sessionId, harnTunnel)
  if (carried?.op === 'wake') return wakeTask(deps, parts, carried.request)
  if (carried === undefined || parts.length > 0) await noteTitle(deps, parts)
  const outcome =
    parts.length === 0 && carried !== undefined
      ? undefined
      : await routePrompt(deps, parts, prompt.canceled.signal, unlock)
  if (carried === undefined) return outcome
  unlock()
  return suspendWith(deps, outcome, carried.request, signal)
}

function blocksOf({ prompt }: PromptFields): readonly ContentBlock[] {
  return parse(contentBlocks, prompt, 'prompt')
}

/** Suspends the task of the prompt, or the running task if the prompt is empty. */
async function suspendWith(
  { connection, attachment, meta }: PromptDeps,
  outcome: PromptOutcome | undefined,
  { reason, mode, resumeWhen }: SuspendFields,
  signal: AbortSignal,
): Promise<PromptOutcome | undefined> {
  if (outcome !== undefined && 'reply' in outcome) return outcome
  const { acp, caller } = connection
  const { id } = attachment.session
  const taskId = outcome?.taskId ?? toSuspend(await acp.sessions.openTasks(caller, id), id, meta).id
  const request = { taskId, reason, mode, conditions: resumeWhen }
  const task = await suspendTask(acp, caller, request, signal)
  await attachment.seen(taskId, task.version)
  return outcome ?? { taskId, settled: Promise.resolve<Task | undefined>(task), recorded: false }
}

async function endOf(
  connection: Connection,
  sessionId: string,
  outcome: PromptOutcome | undefined,
  prompt: OpenPrompt,
): Promise<PromptResponse> {
  if (outcome === undefined) return { stopReason: 'cancelled' }
  if ('reply' in outcome) {
    const { reply, about } = outcome
    const answer = async (): Promise<PromptResponse> => {
      await connection.say(sessionId, reply)
      if (about !== undefined) return promptResponse(connection.acp.facts, about)
      return { stopReason: 'end_turn' }
    }
    const { during } = connection.peer()
    return during === undefined ? answer() : during(sessionId, answer)
  }
  prompt.taskId = outcome.taskId
  if (prompt.canceled.signal.aborted) await giveUp(connection, outcome.taskId)
  const task = await outcome.settled
  // The connection is lost, or the task could not be read.
  if (task === undefined) {
    const problem = 'The session lost sight of its task; load it again to see how it stands'
    throw new RequestError(INTERNAL, problem)
  }
  return promptResponse(connection.acp.facts, task)
}

async function giveUp({ acp, caller }: Connection, taskId: string): Promise<void> {
  try {
    await cancelTask(acp, caller, taskId)
  } catch (error) {
    acp.log('error', 'a prompt was given up and its task could not be canceled', { taskId, error })
  }
}

/**
 * Decides where a prompt goes: to a task of the session that is stopped or asks a question,
 * otherwise to a new task. While a task runs, prompts are queued.
 * @param unlock called when the next request of the session may be routed
 * @returns undefined when the prompt was canceled first
 */
async function routePrompt(
  deps: PromptDeps,
  parts: readonly Part[],
  canceled: AbortSignal,
  unlock: () => void,
): Promise<PromptOutcome | undefined> {
  const { connection, attachment, meta } = deps
  const { acp, caller } = connection
  const { id } = attachment.session
  const key = keyOf(caller, id)
  const open = await acp.sessions.openTasks(caller, id)
  const target = toPrompt(open, meta)
  if (target !== undefined) return continueTask(deps, target, parts)
  try {
    if (!acp.promptQueues.isBusy(key) && !open.some(isPrompted)) {
      return await startTask(deps, parts, canceled)
    }
    const place = acp.promptQueues.enter(key, canceled)
    unlock()
    const leave = await place
    try {
      const asking = await untilIdle(deps, canceled)
      return asking === undefined
        ? await startTask(deps, parts, canceled)
        : await continueTask(deps, asking, parts)
    } finally {
      leave()
    }
  } catch (error) {
    if (canceled.aborted && error === canceled.reason) return undefined
    throw error
  }
}

/** Whether a prompt created the task. */
function isPrompted(task: Task): boolean {
  return task.origin === 'acp' && isOwn(task)
}

/**
 * Waits until no task that a prompt created is open.
 * @returns a task that asks a question meanwhile: the queued prompt answers it
 */
async function untilIdle(
  { connection, attachment }: PromptDeps,
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
      await abortable(change, canceled)
      change = next()
    }
  } finally {
    unwatch()
  }
}

const LONGEST_TITLE = 80

/** Sets the title of a session to the first words of its first prompt. @throws LullError `INVALID_INPUT` if the prompt has no content */
async function noteTitle(
  { connection, attachment }: PromptDeps,
  parts: readonly Part[],
): Promise<void> {
  if (parts.length === 0) {
    throw new LullError('INVALID_INPUT', { path: 'prompt', problem: 'must say something' })
  }
  const { acp, caller } = connection
  const { id } = attachment.session
  const updatedAt = acp.clock.now()
  let isFirst = false
  const { title } = await acp.sessions.change(caller, id, (session) => {
    isFirst = session.title === undefined
    return { updatedAt, title: session.title ?? titleFrom(parts) }
  })
  if (!isFirst) return
  await connection.peer().update(id, {
    sessionUpdate: 'session_info_update',
    title: title ?? '',
    updatedAt: toIso(updatedAt),
  })
}

function titleFrom(parts: readonly Part[]): string {
  const words = textOf({ parts }).trim().split('\n')[0] ?? ''
  return words.length > LONGEST_TITLE ? `${words.slice(0, LONGEST_TITLE - 1)}…` : words
}
