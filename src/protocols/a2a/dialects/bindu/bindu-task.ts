/**
 * Tasks, webhook events and the checkpoint of a stopped task in the shapes of the Bindu document: in snake_case, with the
 * state `suspended`. The checkpoint is rendered from the task and never stored, so it cannot differ from the task.
 */

import type { Artifact, Message } from '../../../../core/messages/message.ts'
import { isInterrupted, isTerminal, type State } from '../../../../core/states.ts'
import type { Task } from '../../../../core/task.ts'
import { toIso } from '../../../../core/values/instant.ts'
import { wirePart } from '../../codec/v03.ts'
import { pausedAtOf } from '../../metadata.ts'
import type { TaskEvent } from '../../streams/task-events.ts'

export interface BinduTask {
  readonly kind: 'task'
  readonly id: string
  readonly context_id: string
  readonly status: object
  readonly history: readonly object[]
  readonly artifacts: readonly object[]
  readonly metadata?: object
}

export function binduTask(task: Task): BinduTask {
  const { statusMessage, suspension, pausing } = task
  const status = {
    state: binduState(task.state),
    timestamp: toIso(suspension === undefined ? task.statusAt : pausedAtOf(suspension)),
    ...(statusMessage === undefined ? {} : { message: binduMessage(statusMessage) }),
  }
  return renderTask(task, status, {
    ...(pausing === undefined ? {} : { pausing: true }),
    ...(suspension === undefined ? {} : { checkpoint: checkpointOf(task) }),
  })
}

/**
 * The answer to a resume, which has the state `resumed`. A later `tasks/get` shows the current
 * state.
 */
export function resumedTask(task: Task, resumedAt: number): BinduTask {
  return renderTask(task, { state: 'resumed', timestamp: toIso(resumedAt) }, {})
}

function renderTask(task: Task, status: object, facts: object): BinduTask {
  const metadata = { ...task.metadata, ...facts }
  return {
    kind: 'task',
    id: task.id,
    context_id: task.contextId,
    status,
    history: task.history.map(binduMessage),
    artifacts: task.artifacts.map(binduArtifact),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  }
}

/** The body of webhooks that were created in the Bindu dialect, in the shapes of the Bindu document. */
export function binduEvent(event: Exclude<TaskEvent, { kind: 'reminder' }>): object {
  const { task } = event
  const about = {
    event_id: `${task.id}:${task.version}`,
    sequence: task.version,
    timestamp: toIso(task.statusAt),
    task_id: task.id,
    context_id: task.contextId,
  }
  if (event.kind === 'artifact') {
    const { artifact, append, last } = event
    const shown = binduArtifact(artifact)
    return { ...about, kind: 'artifact-update', artifact: shown, append, last_chunk: last }
  }
  const { status, metadata } = shownAs(event.record.type === 'resumed', task)
  const final = isTerminal(task.state) || isInterrupted(task.state)
  const facts = metadata === undefined ? {} : { metadata }
  return { ...about, kind: 'status-update', status, final, ...facts }
}

/** The event of a resume has the status `resumed`; later events have the state after it. */
function shownAs(isResume: boolean, task: Task): ReturnType<typeof binduTask> {
  return isResume
    ? resumedTask(task, task.resumes.at(-1)?.resumedAt ?? task.statusAt)
    : binduTask(task)
}

/**
 * The checkpoint of a stopped task, in the shape of the Bindu document. It is rendered from the
 * task and never stored, so it cannot differ from the task, and works with every store.
 */
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
