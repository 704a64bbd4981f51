/** Writes one frame of a stream. The versions of A2A have the same content with different names. */

import type { Artifact, Message } from '../../../core/messages/message.ts'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { isTunnelled, type Metadata } from '../dialects/harn/harn-metadata.ts'
import { eventMessage } from '../metadata.ts'
import type { TaskEvent } from '../streams/task-events.ts'

interface Update {
  readonly taskId: string
  readonly contextId: string
  metadata?: JsonObject
}

export interface ArtifactUpdate extends Update {
  readonly artifact: object
  readonly append: boolean
  readonly lastChunk: boolean
}

export interface StatusUpdate extends Update {
  readonly status: object
}

export interface EventSpelling {
  /**
   * Whether changes of reminders have frames. If not, only clients of the Harn metadata get them.
   */
  readonly hasReminderFrames: boolean
  artifact(artifact: Artifact): object
  status(task: Task, message: Message | undefined): object
  /** The first frame of a task. */
  taskFrame(task: Task): object
  artifactFrame(update: ArtifactUpdate): object
  statusFrame(update: StatusUpdate, closes: boolean): object
}

/** @returns undefined when the version has no frame for the event */
export function writeEvent(
  event: TaskEvent,
  closes: boolean,
  facts: Metadata,
  spelling: EventSpelling,
): object | undefined {
  const { kind, task } = event
  const { id: taskId, contextId } = task
  if (kind === 'reminder' && !spelling.hasReminderFrames && !isTunnelled(facts, event)) {
    return undefined
  }
  if (kind === 'status' && event.record.type === 'submitted') return spelling.taskFrame(task)
  const metadata = facts.ofEvent(event)
  if (kind === 'artifact') {
    const { append, last: lastChunk } = event
    const artifact = spelling.artifact(event.artifact)
    const update: ArtifactUpdate = { taskId, contextId, artifact, append, lastChunk }
    if (metadata !== undefined) update.metadata = metadata
    return spelling.artifactFrame(update)
  }
  const status = spelling.status(task, kind === 'reminder' ? undefined : eventMessage(event))
  const update: StatusUpdate = { taskId, contextId, status }
  if (metadata !== undefined) update.metadata = metadata
  return spelling.statusFrame(update, closes)
}
