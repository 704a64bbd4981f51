/**
 * What a receipt covers beside the action: the owner of the task, its messages, artifacts, question
 * and reminders. The digest is built from one hash per item, so that it stays valid when an item is
 * redacted to its hash.
 */

import type { Artifact, Message } from '../messages/message.ts'
import { hashIn } from '../redact.ts'
import type { Task } from '../task.ts'
import { canonical } from './canonical-json.ts'
import { sha256 } from './sha256.ts'

export type Content = (task: Task) => string

/**
 * @param redacted whether a redacted item counts as the original
 * @returns the digest function. It caches the hashes of messages and artifacts, because most of
 * them were part of the previous receipt
 */
export function createContent(redacted = false): Content {
  const known = new WeakMap<object, string>()
  const leaf = (item: unknown): string =>
    (redacted ? hashIn(item) : undefined) ?? sha256(canonical(item))
  const said = (item: Message | Artifact): string => {
    const before = known.get(item)
    if (before !== undefined) return before
    const made = leaf({ ...item, parts: item.parts.map(leaf) })
    known.set(item, made)
    return made
  }
  return (task) => sha256(canonical(itemsOf(task, leaf, said)))
}

function itemsOf(
  task: Task,
  leaf: (item: unknown) => string,
  said: (item: Message | Artifact) => string,
): object {
  const { tenant, principal, agent, contextId, parentId, origin, createdAt } = task
  const { metadata, input, history, statusMessage, artifacts, question, reminders } = task
  return {
    owner: { tenant, principal, agent, contextId, parentId, origin, createdAt },
    metadata: metadata && leaf(metadata),
    input: input === undefined ? undefined : leaf(input),
    messages: (statusMessage === undefined ? history : [...history, statusMessage]).map(said),
    artifacts: artifacts.map(said),
    question: question && leaf({ ...question, message: said(question.message) }),
    reminders: reminders.map(leaf),
  }
}
