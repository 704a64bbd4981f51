/** Creates tasks. If a slot is free, the commit that creates a task also starts it. */
import { isLullError, LullError } from '../../../core/errors.ts'
import { type Message, messageTo } from '../../../core/messages/message.ts'
import type { Submission } from '../../../core/records.ts'
import { inherited } from '../../../core/reminders/reminders.ts'
import type { Task } from '../../../core/task.ts'
import type { Json } from '../../../core/values/json.ts'
import { weightOf } from '../../../core/values/weight.ts'
import type { Agent } from '../../author/agent.ts'
import type { EngineContext } from '../../context.ts'
import type { CommitExtras, Committed } from '../../ledger/ledger.ts'
import type { Delegation } from '../../run/host.ts'
import { contextBegunBy } from '../context-id.ts'
import { seenNow } from '../past.ts'
import type { Incoming, Sending } from './send-result.ts'
import { pendingAtStart, sentReminders } from './sent-reminders.ts'
import { inputOf } from './task-input.ts'

/** `eventsAfter` is set when the command is decided. */
export type NewTask = Omit<Submission, 'eventsAfter' | 'seen'> & { eventsAfter: number }

export interface Creation extends CommitExtras {
  /**
   * Whether the agent's code may start before the task is durable. Only for a new task id whose key is not claimed.
   */
  readonly ahead?: boolean
  /** Why the agent's `receive` rejected the message. */
  readonly rejection?: string | undefined
}

/** Creates the task. If another task has the idempotency key, the result has the claim of that task instead. */
export async function createTask(
  context: EngineContext,
  submission: NewTask,
  creation: Creation = {},
): Promise<Committed> {
  const { runs, events, ids } = context
  const begins = submission.contextId === contextBegunBy(submission.taskId)
  const seen = begins ? undefined : await seenNow(context, submission, submission.message)
  const { ahead = false, rejection, claim, push } = creation
  const refreshing = events.refresh(submission.tenant)
  if (refreshing !== undefined) await refreshing
  return runs.create({
    taskId: submission.taskId,
    agent: submission.agent,
    tenant: submission.tenant,
    runs: rejection === undefined,
    // In a shared store another process may have the key, or hold new tasks: the code waits until the task is written.
    ahead: ahead && refreshing === undefined,
    extras: { claim, push, bytes: weightOf(submission.message) },
    command(run, holdsFor) {
      submission.eventsAfter = events.lastPos(submission.tenant)
      return {
        type: 'submit',
        submission: seen === undefined ? submission : { ...submission, seen },
        run,
        holds: holdsFor(submission),
        rejection:
          rejection === undefined ? undefined : agentMessage(submission, ids.uuid(), rejection),
      }
    },
  })
}

/** The facts of a new task that do not come from the message. */
export interface Decided extends Omit<Creation, 'push'> {
  readonly agent: Agent
  readonly taskId: string
  /** Default: the context of the message, or a new one. */
  readonly contextId?: string
  /** The message as the agent's schema read it. */
  readonly input?: Json | undefined
}

export function createFromMessage(
  sending: Sending,
  { caller, request, push }: Incoming,
  { agent, taskId, contextId: chosen, input, claim, ahead = false, rejection }: Decided,
): Promise<Committed> {
  const { message, metadata, origin } = request
  const contextId = chosen ?? message.contextId ?? contextBegunBy(taskId)
  const submission = {
    taskId,
    tenant: caller.tenant,
    principal: caller.principal,
    agent: agent.name,
    contextId,
    message: messageTo(message, taskId, contextId),
    parentId: undefined,
    origin,
    metadata,
    input,
    eventsAfter: 0,
    reminders:
      request.reminders &&
      pendingAtStart(
        sending.context,
        taskId,
        sentReminders(sending.context, caller, agent, request),
      ),
  }
  // In an existing context, the conversation must be read before the agent's code starts.
  const isFirst = message.contextId === undefined
  return createTask(sending.context, submission, {
    claim,
    push,
    rejection,
    ahead: ahead && isFirst,
  })
}

function agentMessage({ taskId, contextId }: NewTask, messageId: string, text: string): Message {
  return { messageId, role: 'ROLE_AGENT', parts: [{ text }], taskId, contextId }
}

/** Creates a child with the tenant, principal and context of its parent, and with the reminders that it inherits. */
export async function createChild(
  context: EngineContext,
  parent: Task,
  { childId, agent, message, input }: Delegation,
): Promise<void> {
  const { tenant, principal, contextId } = parent
  const child = agentNamed(context, agent)
  const { name, reminders: takes } = child
  const reminders = takes === false ? [] : inherited(parent.reminders, parent.id)
  await createTask(context, {
    taskId: childId,
    tenant,
    principal,
    agent: name,
    contextId,
    message: messageTo(message, childId, contextId),
    parentId: parent.id,
    depth: childDepth(parent),
    origin: undefined,
    metadata: undefined,
    input: input ?? (await inputOfRecorded(child, message)),
    eventsAfter: 0,
    reminders: reminders.length === 0 ? undefined : reminders,
  })
}

/** A child whose log has no depth was created before depths were counted. */
export function childDepth({ depth, parentId }: Pick<Task, 'depth' | 'parentId'>): number {
  return (depth ?? (parentId === undefined ? 0 : 1)) + 1
}

/** The parent's log has the message, so it was accepted. The schema may be newer, and refuse it. */
async function inputOfRecorded(agent: Agent, message: Message): Promise<Json | undefined> {
  try {
    return await inputOf(agent, message)
  } catch (error) {
    if (isLullError(error, 'INVALID_INPUT')) return undefined
    throw error
  }
}

/** The agent of that name, or the first registered agent. @throws LullError `AGENT_UNKNOWN` */
export function agentNamed({ agents }: EngineContext, name: string | undefined): Agent {
  const agent = name === undefined ? agents.values().next().value : agents.get(name)
  if (agent === undefined) throw new LullError('AGENT_UNKNOWN', { agent: name ?? '' })
  return agent
}
