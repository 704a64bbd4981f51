import type { Message } from '../../core/messages/message.ts'
import type { PruneResult } from './pruning.ts'

/**
 * A claim makes a request idempotent. The first claim of a key decides which task (or reply) the
 * key stands for.
 */
export interface Claim {
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly key: string
  /** The task that the key stands for. Its id is chosen before the task exists. */
  readonly taskId: string
  /** The digest of the message. Repeating a key with another digest is an error. */
  readonly digest: string
  readonly createdAt: number
  /** The reply to a stateless message. Absent when the key stands for a task. */
  readonly reply?: Message
}

export type ClaimKey = Pick<Claim, 'tenant' | 'principal' | 'agent' | 'key'>

/** A stateless message or its reply, stored in its context. */
export interface ContextMessage {
  readonly tenant: string
  readonly principal: string
  readonly contextId: string
  readonly at: number
  readonly message: Message
}

/** A stored message with its position. Positions grow with time within a context. */
export interface StoredContextMessage extends ContextMessage {
  readonly pos: number
}

/** Claimed idempotency keys, and stateless messages with their replies. */
export interface ClaimStore {
  /** The claim of that key, if any. */
  findClaim(key: ClaimKey): Promise<Claim | undefined>
  /** Claims the key unless it is taken. Returns the claim that has it. */
  claim(claim: Claim): Promise<Claim>
  /**
   * Stores the reply of a claimed key, and adds its messages to the context, in one write. Writes
   * nothing if the key already has a reply or was claimed for another task.
   */
  reply(claim: Claim | undefined, messages: readonly ContextMessage[]): Promise<void>
  /** The latest `limit` messages, oldest first. With `upTo`, only messages up to that position. */
  contextMessages(
    tenant: string,
    principal: string,
    contextId: string,
    limit: number,
    upTo?: number,
  ): Promise<readonly StoredContextMessage[]>
  /** Removes messages older than `before` from contexts without an open task. Looks at up to `limit` messages. */
  pruneContextMessages(before: number, limit: number, after?: string): Promise<PruneResult>
  pruneClaims(createdBefore: number, limit: number): Promise<number>
}
