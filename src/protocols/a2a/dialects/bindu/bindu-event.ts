/** The body of webhooks that were created in the Bindu dialect, in the shapes of the Bindu document. */

import { isInterrupted, isTerminal } from '../../../../core/states.ts'
import type { Task } from '../../../../core/task.ts'
import { toIso } from '../../../../core/values/instant.ts'
import type { TaskEvent } from '../../streams/task-events.ts'
import { binduTask, resumedTask } from './bindu-task.ts'
import { binduArtifact } from './checkpoint.ts'

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
