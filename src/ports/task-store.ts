/**
 * Where logs live. A promise made here is a case in `testing/store-contract.ts`, or it is not one.
 *
 * 1. `commit` is durable when it resolves: what it reports as written survives `kill -9` and power loss.
 * 2. Each commit of a batch is atomic and stands alone: a refused or failing one leaves its neighbours untouched.
 * 3. A commit is a compare-and-set on the task's version; records, row, waits, snapshot, claim and webhooks move together.
 * 4. Reads see everything a resolved `commit` wrote.
 * 5. Only single-task transactions are asked for, so that a store may be partitioned by task id.
 */
import type { CloudEvent, StoredEvent } from '../core/cloud-event.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import type { Push } from '../core/push.ts'
import type { LogRecord } from '../core/records.ts'
import type { State } from '../core/states.ts'
import type { Task } from '../core/task.ts'

/**
 * The columns a store indexes: a pure function of the task (`engine/row.ts`), never a second truth. `tenant`, `principal`,
 * `agent`, `contextId`, `parentId` and `createdAt` never change.
 */
export interface TaskRow {
  readonly id: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly parentId?: string
  readonly state: State
  readonly createdAt: number
  /** When the state was last reported: what lists are sorted by. */
  readonly statusAt: number
  /** Set while the task could run and nobody runs it: since when. */
  readonly readyAt?: number
  /** The worker whose run holds the task. */
  readonly owner?: string
  /** The next instant something of the task falls due. */
  readonly dueAt?: number
  readonly held: boolean
  /** Names of events it waits for (`core/conditions.ts`, `waitNames`). */
  readonly waits: readonly string[]
}

/** Makes a request idempotent: the first to claim the key decides which task (or reply) it means. */
export interface Claim {
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly key: string
  /** The task the key stands for, minted before it exists. */
  readonly taskId: string
  /** Digest of the message, so that the same key with another message can be told. */
  readonly digest: string
  readonly createdAt: number
  /** The answer, where it was a stateless message. */
  readonly reply?: Message
}

export interface Commit {
  readonly taskId: string
  /** The version the records follow; 0 creates the task. */
  readonly expected: number
  /** Sequence numbers `expected + 1` and on. Never empty. */
  readonly records: readonly LogRecord[]
  /** Present when a column changed; always present on creation. */
  readonly row?: TaskRow
  /** The task folded up to the last record, where reading it back soon is likely. */
  readonly snapshot?: Task
  /** Only on creation. When the key is taken by another task, nothing of this commit is written. */
  readonly claim?: Claim
  /** Webhooks that came with what is written. */
  readonly pushes?: readonly Push[]
}

export type CommitResult =
  | { readonly status: 'written' }
  /** Another writer was first; `version` is what the store has (0: no such task). Nothing was written. */
  | { readonly status: 'conflict'; readonly version: number }
  | { readonly status: 'claimed'; readonly claim: Claim }
  /** This commit alone could not be written; nothing of it was. */
  | { readonly status: 'failed'; readonly error: unknown }

/** A snapshot, if there is one, and the records after it: fold them for the task. */
export interface StoredTask {
  readonly snapshot?: Task
  readonly records: readonly LogRecord[]
}

/** Every field narrows. Sorted by `statusAt` descending, then id descending. */
export interface TaskQuery {
  readonly tenant?: string
  readonly principal?: string
  readonly agent?: string
  readonly contextId?: string
  readonly parentId?: string
  readonly states?: readonly State[]
  readonly held?: boolean
  /** Inclusive. */
  readonly statusAtFrom?: number
  /** Continue after this row. */
  readonly before?: { readonly statusAt: number; readonly id: string }
  readonly limit: number
}

export interface Hold {
  readonly id: string
  readonly scope: HoldScope
  readonly reason: string
  readonly holdNew: boolean
  readonly actor: { readonly kind: string; readonly id: string }
  readonly createdAt: number
  readonly liftedAt?: number
}

export type HoldScope =
  | { readonly all: true }
  | { readonly tenant: string }
  | { readonly tenant?: string; readonly agent: string }
  | { readonly tenant?: string; readonly contextId: string }
  | { readonly tenant?: string; readonly taskIds: readonly string[] }

/** A stateless exchange, kept in its context. */
export interface ContextMessage {
  readonly tenant: string
  readonly principal: string
  readonly contextId: string
  readonly at: number
  readonly message: Message
}

/** A conversation as an editor knows it: what it has beyond its tasks. Its id is the context's. */
export interface SessionRow {
  readonly tenant: string
  readonly principal: string
  readonly id: string
  readonly cwd: string
  readonly createdAt: number
  /** When it was last spoken in: what lists are sorted by. */
  readonly updatedAt: number
  readonly title?: string
  /** The agent its messages go to, where one was chosen. */
  readonly agent?: string
  /** Handles that clients made up, and the suspensions they stand for. */
  readonly aliases?: Readonly<Record<string, string>>
  /** What its next task is to be reminded of. */
  readonly reminders?: readonly JsonObject[]
  /** It is in no list any more; the row stays, so that its context does not come back as another one. */
  readonly deletedAt?: number
}

export interface TaskStore {
  /**
   * Results in the order of the batch. Rejects only when the store as a whole cannot write (nothing was written). A
   * malformed commit (no records, a gap in their numbers, a creation without a row) is `failed`; `claimed` wins over
   * `conflict`.
   */
  commit(batch: readonly Commit[]): Promise<readonly CommitResult[]>

  load(taskId: string): Promise<StoredTask | undefined>
  /** The log after `afterSeq`, oldest first; empty for a task that does not exist. */
  records(taskId: string, afterSeq: number, limit: number): Promise<readonly LogRecord[]>

  list(query: TaskQuery): Promise<readonly TaskRow[]>
  count(query: Omit<TaskQuery, 'limit' | 'before'>): Promise<number>

  /** Tasks of these agents that could run and that nobody runs, longest waiting first. */
  ready(agent: string, limit: number): Promise<readonly string[]>
  /** Agents that have ready tasks. */
  readyAgents(): Promise<readonly string[]>
  /** Tasks whose run belongs to a worker that is gone. `alive` is this process's worker id. */
  orphans(alive: string, limit: number): Promise<readonly string[]>
  /** Tasks due at or before `now`, earliest first. */
  due(now: number, limit: number): Promise<readonly string[]>
  nextDueAt(): Promise<number | undefined>
  /** Tasks that wait under one of these names, in this tenant. Ordered by id; `after` continues. */
  waiting(
    tenant: string,
    names: readonly string[],
    after: string,
    limit: number,
  ): Promise<readonly string[]>

  /** Keeps events durably; the position of each, and whether it was new (`source` + `id` decide, per tenant). */
  appendEvents(
    tenant: string,
    events: readonly CloudEvent[],
    receivedAt: number,
  ): Promise<readonly { readonly pos: number; readonly fresh: boolean }[]>
  /** Events after `afterPos` that carry one of the names (all, when absent), oldest first. */
  events(
    tenant: string | undefined,
    afterPos: number,
    limit: number,
    names?: readonly string[],
  ): Promise<readonly StoredEvent[]>
  /** The position of the newest event of any tenant, also when it was removed since; 0 when there was none. */
  lastEventPos(): Promise<number>

  /** Small durable facts of the engine, such as how far events were dispatched. */
  getFact(name: string): Promise<Json | undefined>
  setFact(name: string, value: Json): Promise<void>

  /** Idempotent by id; also stores `liftedAt`. */
  putHold(hold: Hold): Promise<void>
  /** Holds that are not lifted, oldest first; with `all`, lifted ones too. */
  holds(all?: boolean): Promise<readonly Hold[]>

  /** The claim of that key, if any. */
  findClaim(
    claim: Pick<Claim, 'tenant' | 'principal' | 'agent' | 'key'>,
  ): Promise<Claim | undefined>
  /** Claims the key unless it is taken; returns whoever has it. */
  claim(claim: Claim): Promise<Claim>
  /**
   * Keeps the reply a claimed key stands for, and its exchange in the context, in one write. The first reply stands: a
   * second one, or one to a claim that is another's, writes nothing.
   */
  reply(claim: Claim | undefined, messages: readonly ContextMessage[]): Promise<void>
  /** The latest `limit`, oldest first. */
  contextMessages(
    tenant: string,
    principal: string,
    contextId: string,
    limit: number,
  ): Promise<readonly ContextMessage[]>

  /** The latest of each stands. */
  putSession(session: SessionRow): Promise<void>
  /** Deleted ones too. */
  session(tenant: string, principal: string, id: string): Promise<SessionRow | undefined>
  /** Those not deleted, by `updatedAt` descending, then id descending; `before` continues. */
  sessions(
    tenant: string,
    principal: string,
    before: { readonly updatedAt: number; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly SessionRow[]>

  /** Webhooks of tasks, by task and id; the latest of each stands. */
  putPush(push: Push): Promise<void>
  /** Ordered by id. */
  pushes(taskId: string): Promise<readonly Push[]>
  deletePush(taskId: string, id: string): Promise<void>
  /** Of all tasks, ordered by task and id; `after` continues. What is done is never listed. */
  listPushes(
    status: 'open' | 'failed',
    after: { readonly taskId: string; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly Push[]>

  /**
   * Removes terminal tasks last reported before the instant, with everything of theirs but their claims (a late duplicate
   * must not start one again). Returns how many.
   */
  pruneTasks(statusBefore: number, limit: number): Promise<number>
  pruneEvents(receivedBefore: number, limit: number): Promise<number>
  pruneClaims(createdBefore: number, limit: number): Promise<number>

  /** Resolves when a small write worked. @throws LullError `STORE_UNAVAILABLE` */
  check(): Promise<void>
  close(): Promise<void>
}
