/** Finds the artifact that a message refers to, and asks the user if it is not clear. */

import type { AgentTask, Answer } from '../../author/agent-task.ts'
import type { ConversationArtifact } from '../../author/conversation.ts'
import { artifactReferences } from './artifact-references.ts'

/**
 * Looks in this order: `referenceArtifacts` of a part; an artifact id or name in the text; a file part with the name of
 * an artifact; the only candidate. Asks the user if there are several candidates and none is named.
 */
export async function pickArtifact(
  task: AgentTask,
  name: string | undefined,
): Promise<ConversationArtifact | undefined> {
  const candidates = candidatesFor(task, name)
  const named = task.referenced.artifacts[0] ?? mentioned(candidates, task.text, task.message)
  if (named !== undefined) return named
  if (candidates.length <= 1) return candidates[0]
  const list = candidates.map(
    ({ artifact }) => `${artifact.name ?? 'unnamed'} (${artifact.artifactId})`,
  )
  for (;;) {
    const answer: Answer = await task.ask(`Which artifact do you mean? ${list.join(', ')}`)
    const picked =
      referredTo(candidates, answer) ?? mentioned(candidates, answer.text, answer.message)
    if (picked !== undefined) return picked
  }
}

/** The newest artifact of each name, of the tasks that the message refers to, or of the whole conversation. */
function candidatesFor(task: AgentTask, name: string | undefined): readonly ConversationArtifact[] {
  const referred = task.referenced.tasks.flatMap((one) =>
    one.artifacts.map((artifact) => ({ taskId: one.id, artifact })),
  )
  const from = referred.length > 0 ? referred : task.context.artifacts
  const wanted = from.filter(({ artifact }) => name === undefined || artifact.name === name)
  const newest = new Map(wanted.map((one) => [one.artifact.name ?? one.artifact.artifactId, one]))
  return [...newest.values()]
}

function mentioned(
  candidates: readonly ConversationArtifact[],
  text: string,
  message: AgentTask['message'],
): ConversationArtifact | undefined {
  const files = new Set(message.parts.flatMap((part) => part.filename ?? []))
  const hits = candidates.filter(
    ({ artifact: { artifactId, name } }) =>
      text.includes(artifactId) || (name !== undefined && (text.includes(name) || files.has(name))),
  )
  return hits.length === 1 ? hits[0] : undefined
}

function referredTo(
  candidates: readonly ConversationArtifact[],
  answer: Answer,
): ConversationArtifact | undefined {
  const list = answer.message.parts.flatMap((part) => artifactReferences(part))
  return candidates.find((one) => list.some((ref) => ref.artifactId === one.artifact.artifactId))
}
