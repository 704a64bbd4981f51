/** Sends a prompt as a new message. It becomes a task, or the agent replies without a task. */
import type { Message, Part } from '../../../core/messages/message.ts'
import type { Caller } from '../../../engine/caller.ts'
import { offersOf } from '../../../engine/requests/offers.ts'
import type { SendResult } from '../../../engine/requests/send/send-result.ts'
import type { Connection } from '../connection/connection.ts'
import type { AcpContext } from '../connection/context.ts'
import { keptIn } from '../reminders/session-reminders.ts'
import { abortable } from '../sessions/queues.ts'
import { agentOf } from '../sessions/sessions.ts'
import { cancelTask } from './open-prompts.ts'
import type { PromptDeps, PromptOutcome } from './prompt-outcome.ts'

export async function startTask(
  deps: PromptDeps,
  parts: readonly Part[],
  canceled: AbortSignal,
): Promise<PromptOutcome> {
  const { connection, attachment } = deps
  const message = promptMessage(deps, parts)
  const sent = await create(connection, attachment.session.id, message, canceled)
  if (sent.kind === 'message') return { reply: sent.message, recorded: false }
  const taskId = sent.task.id
  return { taskId, settled: attachment.settled(taskId), recorded: true }
}

/** Builds the message of a prompt, to a new task or to the named one. */
export function promptMessage(
  { connection, messageId }: PromptDeps,
  parts: readonly Part[],
  taskId?: string,
): Message {
  connection.sending(messageId, 'prompt')
  return { messageId, role: 'ROLE_USER', parts, ...(taskId === undefined ? {} : { taskId }) }
}

/** @param canceled if it aborts while the agent decides, the promise rejects with its reason */
export async function create(
  { acp, caller }: Connection,
  contextId: string,
  message: Message,
  canceled?: AbortSignal,
): Promise<SendResult> {
  // Read again, because the agent of the session may have changed since the connection attached.
  const session = await acp.sessions.get(caller, contextId)
  const { agent } = session
  const receiver = agentOf(acp.engine, session)
  // An agent without reminders gets none. They stay in the session for a task of an agent that
  // supports them.
  const reminders = receiver && offersOf(receiver).reminders ? keptIn(session) : []
  const metadata = { acp: { cwd: session.cwd } }
  const request = { agent, message: { ...message, contextId }, metadata, origin: 'acp' }
  // Only `receive` can take long. Without it the message is a task at once, which is then canceled.
  const givenUp = receiver?.receive === undefined ? undefined : canceled
  givenUp?.throwIfAborted()
  const sending = acp.engine.send(
    caller,
    reminders.length === 0 ? request : { ...request, reminders },
  )
  const sent = await abortable(sending, givenUp).catch((error: unknown) => {
    if (givenUp?.aborted) cancelLate(acp, caller, sending)
    throw error
  })
  const ids = new Set(reminders.map(({ id }) => id))
  if (sent.kind === 'task' && ids.size > 0) await acp.waiting.delivered(caller, contextId, ids)
  return sent
}

/** Cancels a task that the agent creates after the prompt was canceled. */
function cancelLate(acp: AcpContext, caller: Caller, sending: Promise<SendResult>): void {
  sending
    .then((sent) => (sent.kind === 'task' ? cancelTask(acp, caller, sent.task.id) : undefined))
    .catch((error: unknown) =>
      acp.log('warn', 'the task of a prompt that was given up is not canceled', { error }),
    )
}
