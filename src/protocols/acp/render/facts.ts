/**
 * Builds the `_meta` of tasks and sessions: their state under `lull` and, if configured, under
 * `harn`.
 */

import { textOf } from '../../../core/messages/message.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { harnFacts, suspendFacts } from '../suspend/suspension-facts.ts'

export interface Facts {
  readonly ofTask: (task: Task) => JsonObject
  /** The metadata of a session with these open tasks. */
  readonly ofSession: (open: readonly Task[]) => JsonObject
}

export function createFacts(harnTunnel: boolean): Facts {
  const withHarn = (lull: JsonObject, task: Task | undefined): JsonObject => {
    const harn = harnTunnel && task !== undefined ? harnFacts(task) : undefined
    return { lull, ...(harn === undefined ? {} : { harn: { suspend: harn } }) }
  }
  return {
    ofTask: (task) => withHarn(taskFacts(task), task),
    ofSession(open) {
      const shown = foremost(open)
      const suspend = shown && suspendFacts(shown)
      const tasks = open.map(taskFacts)
      return withHarn({ ...(suspend === undefined ? {} : { suspend }), tasks }, shown)
    },
  }
}

/** The task that a wake without a handle resumes: the latest stopped one, else the latest one. */
function foremost(open: readonly Task[]): Task | undefined {
  const own = open.filter(({ parentId }) => parentId === undefined)
  return own.findLast(({ suspension, pausing }) => suspension ?? pausing) ?? own.at(-1)
}

function taskFacts(task: Task): JsonObject {
  const suspend = suspendFacts(task)
  const question = questionFacts(task)
  return {
    taskId: task.id,
    state: task.state,
    ...(suspend === undefined ? {} : { suspend }),
    ...(question === undefined ? {} : { question }),
  }
}

function questionFacts({ question, state }: Task): JsonObject | undefined {
  if (question === undefined || !isInterrupted(state)) return undefined
  const expiresAt = question.consent?.expiresAt ?? question.expiresAt
  return {
    text: textOf(question.message),
    ...(question.consent === undefined ? {} : { consentId: question.consent.consentId }),
    ...(expiresAt === undefined ? {} : { expiresAt: toIso(expiresAt) }),
  }
}
