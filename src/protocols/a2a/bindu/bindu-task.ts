/** A task in the words of the Bindu document: snake_case, `suspended`, and the checkpoint it was stopped with. */
import { toIso } from '../../../core/instant.ts'
import type { Task } from '../../../core/task.ts'
import { pausedAtOf } from '../metadata.ts'
import { binduArtifact, binduMessage, binduState, checkpointOf } from './checkpoint.ts'

/** @param state `resumed` in the answer to a resume, which no other answer shows */
export function binduTask(task: Task, state: string = binduState(task.state)): object {
  const { statusMessage, suspension } = task
  const metadata = {
    ...task.metadata,
    ...(task.pausing === undefined ? {} : { pausing: true }),
    ...(suspension === undefined ? {} : { checkpoint: checkpointOf(task) }),
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
