/** The method `session/prompt`. */
import { type ContentBlock, type PromptResponse, RequestError } from '@agentclientprotocol/sdk'

import type { Task } from '../../../core/task.ts'
import { parse } from '../../../engine/input/parse.ts'
import { type Meta, toSuspend } from '../connection/address.ts'
import { isCancellation } from '../connection/cancellation.ts'
import type { Connection } from '../connection/connection.ts'
import { INTERNAL } from '../connection/faults.ts'
import { isBlank, partOf } from '../render/content.ts'
import { contentBlocks } from '../schemas/content-blocks.ts'
import { keyOf } from '../sessions/sessions.ts'
import { suspendTask } from '../suspend/suspending.ts'
import { type SuspendFields, tunnelled } from '../suspend/tunnel.ts'
import { cancelTask } from './canceling.ts'
import { commandIn, runCommand } from './commands.ts'
import { wakeTask } from './continue-task.ts'
import type { OpenPrompt } from './open-prompts.ts'
import { promptResponse } from './prompt-end.ts'
import type { PromptDeps, PromptOutcome } from './prompt-outcome.ts'
import { routePrompt } from './route-prompt.ts'
import { noteTitle } from './session-title.ts'

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
  const carried = tunnelled(request._meta, request.sessionId, harnTunnel)
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
