/**
 * The checkpoint of a stopped task, in the shape of the Bindu document. It is rendered from the
 * task and never stored, so it cannot differ from the task, and works with every store.
 */

import type { Artifact, Message } from '../../../../core/messages/message.ts'
import type { State } from '../../../../core/states.ts'
import type { Task } from '../../../../core/task.ts'
import { toIso } from '../../../../core/values/instant.ts'
import { wirePart } from '../../codec/v03-message.ts'
import { pausedAtOf } from '../../metadata.ts'

export interface Checkpoint {
  readonly paused_from_state: string
  /** Messages and artifacts in the shapes of A2A 0.3, in snake_case. */
  readonly message_history: readonly object[]
  readonly artifacts: readonly object[]
  readonly paused_at: string
}

/**
 * Renders the checkpoint: `checkpointOf(await engine.get(caller, taskId))`. Null if the task is not
 * stopped.
 */
export function checkpointOf(task: Task): Checkpoint | null {
  const { suspension } = task
  if (suspension === undefined) return null
  return {
    paused_from_state: binduState(suspension.pausedFrom),
    message_history: task.history.map(binduMessage),
    artifacts: task.artifacts.map(binduArtifact),
    paused_at: toIso(pausedAtOf(suspension)),
  }
}

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

export function binduMessage(message: Message): object {
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

export function binduArtifact({ artifactId, parts, ...rest }: Artifact): object {
  return { artifact_id: artifactId, ...rest, parts: parts.map(wirePart) }
}
