/** A task in the words of the Bindu document: snake_case, `suspended`, and the checkpoint it was stopped with. */
import { toIso } from '../../../core/instant.ts'
import type { Artifact, Message } from '../../../core/message.ts'
import type { State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { wirePart } from '../codec/v03-message.ts'
import { pausedAtOf } from '../metadata.ts'

const words: Readonly<Record<State, string>> = {
  submitted: 'submitted',
  working: 'working',
  'input-required': 'input-required',
  'auth-required': 'auth-required',
  'user-consent-required': 'input-required',
  'paused-by-client': 'suspended',
  'paused-by-agent': 'suspended',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  rejected: 'rejected',
}

export function binduState(state: State): string {
  return words[state]
}

/** @param state `resumed` in the answer to a resume, which no other answer shows */
export function binduTask(task: Task, state: string = binduState(task.state)): object {
  const { statusMessage, suspension } = task
  const metadata = {
    ...task.metadata,
    ...(task.pausing === undefined ? {} : { pausing: true }),
    ...(suspension === undefined ? {} : { checkpoint: binduCheckpoint(task) }),
  }
  return {
    kind: 'task',
    id: task.id,
    context_id: task.contextId,
    status: {
      state,
      timestamp: toIso(suspension === undefined ? task.statusAt : pausedAtOf(suspension)),
      ...(statusMessage === undefined ? {} : { message: binduMessage(statusMessage) }),
    },
    history: task.history.map(binduMessage),
    artifacts: task.artifacts.map(binduArtifact),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  }
}

/** Rendered from the log, never stored: it cannot differ from the task. Null while the task is not stopped. */
export function binduCheckpoint(task: Task): object | null {
  const { suspension } = task
  if (suspension === undefined) return null
  return {
    paused_from_state: binduState(suspension.pausedFrom),
    message_history: task.history.map(binduMessage),
    artifacts: task.artifacts.map(binduArtifact),
    paused_at: toIso(pausedAtOf(suspension)),
  }
}

function binduMessage(message: Message): object {
  const { messageId, role, parts, contextId, taskId, referenceTaskIds, metadata } = message
  return {
    kind: 'message',
    message_id: messageId,
    role: role === 'ROLE_USER' ? 'user' : 'agent',
    parts: parts.map(wirePart),
    ...(contextId === undefined ? {} : { context_id: contextId }),
    ...(taskId === undefined ? {} : { task_id: taskId }),
    ...(referenceTaskIds === undefined ? {} : { reference_task_ids: referenceTaskIds }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

function binduArtifact({ artifactId, parts, ...rest }: Artifact): object {
  return { artifact_id: artifactId, ...rest, parts: parts.map(wirePart) }
}
