/** Which artifact a message means. The agent made them, so it decides; only when it cannot, it asks. */

import type { AgentTask, Answer } from '../agent-task.ts'
import type { ConversationArtifact } from '../conversation.ts'
import { artifactReferences } from './artifact-references.ts'

/**
 * In this order: what a part's `referenceArtifacts` names; an artifact id or name in the text; a file part sent along
 * that bears an artifact's name; the only candidate. Several and none named: asks back.
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

/** From the tasks the message refers to, else from the whole conversation; the newest of each name. */
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
