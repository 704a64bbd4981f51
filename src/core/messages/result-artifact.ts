/**
 * A2A 1.0 §3.7: results are artifacts. The text or parts that an agent returns are the status message of the ended task,
 * and are also shown as one artifact named `result`. The log has them once, in the record that completes the task; the
 * artifact is made from the task whenever it is shown. Its id is made from the id of the message, so it is the same for
 * every reader, and a reader knows which message it repeats.
 */
import type { Task } from '../task.ts'
import type { Artifact } from './message.ts'

export const RESULT_NAME = 'result'

function resultId(messageId: string): string {
  return `${messageId}-${RESULT_NAME}`
}

export function resultOf({ state, statusMessage }: Task): Artifact | undefined {
  if (state !== 'completed' || statusMessage === undefined) return undefined
  const { messageId, parts } = statusMessage
  return { artifactId: resultId(messageId), name: RESULT_NAME, parts }
}

export function artifactsWithResult(task: Task): readonly Artifact[] {
  const result = resultOf(task)
  return result === undefined ? task.artifacts : [...task.artifacts, result]
}

/** The artifacts without the one that repeats this message. */
export function withoutResult<A extends { readonly artifactId: string }>(
  artifacts: readonly A[],
  message: { readonly messageId: string } | undefined,
): readonly A[] {
  if (message === undefined) return artifacts
  const repeated = resultId(message.messageId)
  return artifacts.filter(({ artifactId }) => artifactId !== repeated)
}
