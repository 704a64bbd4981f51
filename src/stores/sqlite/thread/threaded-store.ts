/**
 * A store that reads on this thread and writes on another, on a connection of its own each. In WAL mode neither waits for
 * the other, and a read that begins after a write was answered sees it (promise 4 of the port).
 */

import type { Commit, CommitResult } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import type { ClaimFilter } from '../claim-filter.ts'
import type { DatabaseStore } from '../database-store.ts'
import { type EncodedCommit, encodeCommit } from '../encoded-commit.ts'
import { flatten } from './flat-commits.ts'
import { type Method, received } from './messages.ts'
import type { Writer } from './writer.ts'

/** What only reads. Every other method is written out below, or this does not compile. */
type Reading =
  | 'load'
  | 'row'
  | 'records'
  | 'list'
  | 'removedTask'
  | 'openTasks'
  | 'ready'
  | 'readyAgents'
  | 'orphans'
  | 'due'
  | 'nextDueAt'
  | 'waiting'
  | 'waitNames'
  | 'events'
  | 'lastEventPos'
  | 'getValue'
  | 'holds'
  | 'contextMessages'
  | 'session'
  | 'sessions'
  | 'pushes'
  | 'listPushes'

export function threaded(reads: DatabaseStore, filter: ClaimFilter, writer: Writer): Store {
  const there =
    <M extends Method>(method: M) =>
    (...args: Parameters<Store[M]>): ReturnType<Store[M]> =>
      writer.call({ method, args }) as ReturnType<Store[M]>
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    await writer.end()
    // Only now: it gives up the lock on the directory.
    await reads.close()
  }

  const reading: Pick<Store, Reading> = reads
  return {
    ...reading,
    commit: (batch) => commit(writer, filter, batch),
    // Of every task that moved since it counted; only the thread that moves them knows.
    count: there('count'),
    appendEvents: there('appendEvents'),
    setValue: there('setValue'),
    putHold: there('putHold'),
    // The newest are found only where they are written.
    findClaim: async (key) =>
      closed !== undefined || filter.has(key) ? there('findClaim')(key) : undefined,
    claim: async (claim) => {
      filter.add(claim)
      return there('claim')(claim)
    },
    reply: async (claim, messages) => {
      if (claim !== undefined) filter.add(claim)
      return there('reply')(claim, messages)
    },
    putSession: there('putSession'),
    putPush: there('putPush'),
    deletePush: there('deletePush'),
    pruneTasks: there('pruneTasks'),
    pruneRemovedTasks: there('pruneRemovedTasks'),
    pruneContextMessages: there('pruneContextMessages'),
    pruneSessions: there('pruneSessions'),
    pruneHolds: there('pruneHolds'),
    pruneEvents: there('pruneEvents'),
    pruneClaims: there('pruneClaims'),
    check: async () => {
      reads.checkUndamaged()
      await there('check')()
    },
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

async function commit(
  writer: Writer,
  filter: ClaimFilter,
  batch: readonly Commit[],
): Promise<readonly CommitResult[]> {
  const made = batch.map((commit) => encodeCommit(commit, filter))
  const encoded = made.filter((one): one is EncodedCommit => !('status' in one))
  if (encoded.length === 0) return made as readonly CommitResult[]
  const count = encoded.length
  const answers = received(await writer.call({ write: flatten(encoded), commits: count }), count)
  if (count === made.length) return answers
  let next = 0
  return made.map((one) => ('status' in one ? one : (answers[next++] as CommitResult)))
}
