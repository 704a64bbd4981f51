import type { Message } from '../../core/message.ts'
import type { Pruned } from './pruning.ts'

/** Makes a request idempotent: the first to claim the key decides which task (or reply) it means. */
export interface Claim {
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly key: string
  /** The task the key stands for, minted before it exists. */
  readonly taskId: string
  /** Digest of the message. It tells the same key with another message apart. */
  readonly digest: string
  readonly createdAt: number
  /** The answer, where it was a stateless message. */
  readonly reply?: Message
}

export type ClaimKey = Pick<Claim, 'tenant' | 'principal' | 'agent' | 'key'>

/** A stateless exchange, kept in its context. */
export interface ContextMessage {
  readonly tenant: string
  readonly principal: string
  readonly contextId: string
  readonly at: number
  readonly message: Message
}

/** Positions grow with time within a context. */
export interface StoredContextMessage extends ContextMessage {
  readonly pos: number
}

/** Claimed keys, and the replies and exchanges that came of them without a task. */
export interface ClaimStore {
  /** The claim of that key, if any. */
  findClaim(key: ClaimKey): Promise<Claim | undefined>
  /** Claims the key unless it is taken. Returns the claim that has it. */
  claim(claim: Claim): Promise<Claim>
  /**
   * Keeps the reply a claimed key stands for, and its exchange in the context, in one write. The first reply stands: a
   * second one, or one to a claim of another task, writes nothing.
   */
  reply(claim: Claim | undefined, messages: readonly ContextMessage[]): Promise<void>
  /** The latest `limit` of them, up to the position where one is given, oldest first. */
  contextMessages(
    tenant: string,
    principal: string,
    contextId: string,
    limit: number,
    upTo?: number,
  ): Promise<readonly StoredContextMessage[]>
  /** Removes messages of before the instant from contexts that have no open task. Looks at up to `limit` messages. */
  pruneContextMessages(before: number, limit: number, after?: string): Promise<Pruned>
  pruneClaims(createdBefore: number, limit: number): Promise<number>
}
