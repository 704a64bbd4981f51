/** A task in the shape of the Bindu document: snake_case, `suspended`, and the checkpoint of its stop. */

import type { Task } from '../../../../core/task.ts'
import { toIso } from '../../../../core/values/instant.ts'
import { pausedAtOf } from '../../metadata.ts'
import { binduArtifact, binduMessage, binduState, checkpointOf } from './checkpoint.ts'

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
  return rendered(task, status, {
    ...(pausing === undefined ? {} : { pausing: true }),
    ...(suspension === undefined ? {} : { checkpoint: checkpointOf(task) }),
  })
}

/**
 * The answer to a resume, which has the state `resumed`. A later `tasks/get` shows the current
 * state.
 */
export function resumedTask(task: Task, resumedAt: number): BinduTask {
  return rendered(task, { state: 'resumed', timestamp: toIso(resumedAt) }, {})
}

function rendered(task: Task, status: object, facts: object): BinduTask {
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
