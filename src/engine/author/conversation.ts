import type { Artifact, Message } from '../../core/messages/message.ts'
import type { Task } from '../../core/task.ts'

/** The conversation so far: what happened in the context before this task or message. */
export interface Conversation {
  readonly messages: readonly Message[]
  readonly tasks: readonly Task[]
  readonly artifacts: readonly ConversationArtifact[]
  /** The newest artifact of that name. */
  readonly latest: (name: string) => ConversationArtifact | undefined
}

export interface ConversationArtifact {
  readonly taskId: string
  readonly artifact: Artifact
}

/** The past of a task, as far as its run may see it. */
export interface Past {
  readonly context: Conversation
  /** The tasks that the message refers to. */
  readonly referenced: readonly Task[]
}

/** Shared by all tasks, and therefore frozen. */
const none: readonly never[] = Object.freeze([])
export const emptyConversation: Conversation = Object.freeze({
  messages: none,
  tasks: none,
  artifacts: none,
  latest: () => undefined,
})
export const noPast: Past = { context: emptyConversation, referenced: none }

/** @param tasks oldest first */
export function conversation(messages: readonly Message[], tasks: readonly Task[]): Conversation {
  const artifacts = tasks.flatMap((task) =>
    task.artifacts.map((artifact) => ({ taskId: task.id, artifact })),
  )
  return {
    messages,
    tasks,
    artifacts,
    latest: (name) => artifacts.findLast(({ artifact }) => artifact.name === name),
  }
}
