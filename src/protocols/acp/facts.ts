/** `_meta` of a session, by what is configured. */
import type { JsonObject } from '../../core/json.ts'
import type { Task } from '../../core/task.ts'
import { harnFacts, suspendFacts } from './suspension-facts.ts'

export interface Facts {
  readonly ofTask: (task: Task) => JsonObject
}

export function createFacts(harnTunnel: boolean): Facts {
  return {
    ofTask(task) {
      const suspend = suspendFacts(task)
      const harn = harnTunnel ? harnFacts(task) : undefined
      return {
        lull: {
          taskId: task.id,
          state: task.state,
          ...(suspend === undefined ? {} : { suspend }),
        },
        ...(harn === undefined ? {} : { harn: { suspend: harn } }),
      }
    },
  }
}
