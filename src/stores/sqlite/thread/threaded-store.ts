/**
 * A store that reads on this thread and writes on another one. Each thread has its own connection.
 * In WAL mode neither waits for the other, and a read that starts after a write was answered sees
 * that write (D4 of `ports/store.ts`).
 */
import type { Commit, CommitResult } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import type { ClaimFilter } from '../claims/claim-filter.ts'
import type { DatabaseStore } from '../database-store.ts'
import { type EncodedCommit, encodeCommit } from '../tasks/encoded-commit.ts'
import { decodeResults, type Method } from './messages.ts'
import type { Writer } from './writer.ts'

/** Methods that only read. A method that is neither here nor below does not compile. */
export type Reading =
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
  | 'waitOwners'
  | 'events'
  | 'lastEventPos'
  | 'getValue'
  | 'holds'
  | 'policies'
  | 'spent'
  | 'contextMessages'
  | 'session'
  | 'sessions'
  | 'pushes'
  | 'listPushes'
  | 'usage'
  | 'space'
  | 'audit'

export function threaded(reads: DatabaseStore, filter: ClaimFilter, writer: Writer): Store {
  const onWriter =
    <M extends Method>(method: M) =>
    (...args: Parameters<Store[M]>): ReturnType<Store[M]> =>
      writer.call({ method, args }) as ReturnType<Store[M]>
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    await writer.end()
    // Closed last, because this releases the lock on the directory.
    await reads.close()
  }

  const reading: Pick<Store, Reading> = reads
  return {
    ...reading,
    commit: (batch) => commit(writer, filter, batch),
    // Counts are kept by the writing thread, because it sees every change of state.
    count: onWriter('count'),
    appendEvents: onWriter('appendEvents'),
    setValue: onWriter('setValue'),
    replaceValue: onWriter('replaceValue'),
    putHold: onWriter('putHold'),
    putPolicy: onWriter('putPolicy'),
    removePolicy: onWriter('removePolicy'),
    // The newest claims are in a map of the writing thread. The filter answers for most new keys without a call.
    findClaim: async (key) =>
      closed !== undefined || filter.has(key) ? onWriter('findClaim')(key) : undefined,
    claim: async (claim) => {
      filter.add(claim)
      return onWriter('claim')(claim)
    },
    reply: async (claim, messages) => {
      if (claim !== undefined) filter.add(claim)
      return onWriter('reply')(claim, messages)
    },
    putSession: onWriter('putSession'),
    replaceSession: onWriter('replaceSession'),
    putPush: onWriter('putPush'),
    replacePush: onWriter('replacePush'),
    deletePush: onWriter('deletePush'),
    appendAudit: onWriter('appendAudit'),
    pruneAudit: onWriter('pruneAudit'),
    pruneTasks: onWriter('pruneTasks'),
    pruneRemovedTasks: onWriter('pruneRemovedTasks'),
    pruneContextMessages: onWriter('pruneContextMessages'),
    pruneSessions: onWriter('pruneSessions'),
    pruneHolds: onWriter('pruneHolds'),
    pruneEvents: onWriter('pruneEvents'),
    pruneClaims: onWriter('pruneClaims'),
    check: async () => {
      reads.checkUndamaged()
      await onWriter('check')()
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
  const answers = decodeResults(await writer.call({ write: encoded }), count)
  if (count === made.length) return answers
  let next = 0
  return made.map((one) => ('status' in one ? one : (answers[next++] as CommitResult)))
}
