/** Adds `metadata.harn` to the metadata of the extensions, if configured. */

import type { Task } from '../../../../core/task.ts'
import type { JsonObject } from '../../../../core/values/json.ts'
import { isObject } from '../../addresses/params.ts'
import { TASK_CONTROL } from '../../extensions.ts'
import { eventMetadata, taskMetadata } from '../../metadata.ts'
import type { TaskEvent } from '../../streams/task-events.ts'
import { harnPause, harnReminder } from './harn-out.ts'

export interface Metadata {
  readonly ofTask: (task: Task) => JsonObject | undefined
  readonly ofEvent: (event: TaskEvent) => JsonObject | undefined
}

export function createMetadata(harn: boolean): Metadata {
  if (!harn) return { ofTask: taskMetadata, ofEvent: eventMetadata }
  return {
    ofTask(task) {
      const metadata = taskMetadata(task)
      if (metadata?.[TASK_CONTROL] === undefined) return metadata
      return withHarn(metadata, 'pause', harnPause(task))
    },
    ofEvent(event) {
      const metadata = eventMetadata(event)
      if (metadata === undefined) return undefined
      if (event.kind === 'reminder' && event.change.event === 'emitted') {
        return withHarn(metadata, 'reminder', harnReminder(event.change.reminder))
      }
      if (metadata[TASK_CONTROL] === undefined) return metadata
      return withHarn(metadata, 'pause', harnPause(event.task))
    },
  }
}

function withHarn(metadata: JsonObject, name: string, fact: JsonObject | undefined): JsonObject {
  if (fact === undefined) return metadata
  const { harn } = metadata
  return { ...metadata, harn: { ...(isObject(harn) ? (harn as JsonObject) : {}), [name]: fact } }
}

/**
 * Whether an event is sent as Harn metadata. Harn peers read reminders from the metadata of a
 * repeated status; other 0.3 peers get no frame for reminders.
 */
export function isTunnelled(facts: Metadata, event: TaskEvent): boolean {
  return facts.ofEvent(event)?.['harn'] !== undefined
}
