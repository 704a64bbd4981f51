/**
 * A store that reads on this thread and writes on another one. Each thread has its own connection.
 * In WAL mode neither waits for the other, and a read that starts after a write was answered sees
 * that write (D4 of `ports/store.ts`).
 */
import type { Commit, CommitResult } from '../../../ports/store/tasks.ts'
import type { Store, StoreMethod } from '../../../ports/store.ts'
import type { ClaimFilter } from '../claims/claim-filter.ts'
import { type DatabaseStore, methodsThat } from '../database-store.ts'
import { type EncodedCommit, encodeCommit } from '../tasks/encoded-commit.ts'
import { decodeResults } from './messages.ts'
import type { Writer } from './writer.ts'

export function createThreadedStore(
  reads: DatabaseStore,
  filter: ClaimFilter,
  writer: Writer,
): Store {
  const onWriter =
    <M extends StoreMethod>(method: M) =>
    (...args: Parameters<Store[M]>): ReturnType<Store[M]> =>
      writer.call({ method, args }) as ReturnType<Store[M]>
  const writes = methodsThat('asks', 'writes').map((method) => [method, onWriter(method)])
  let closed: Promise<void> | undefined

  async function close(): Promise<void> {
    await writer.end()
    // Closed last, because this releases the lock on the directory.
    await reads.close()
  }

  return {
    ...reads,
    ...Object.fromEntries(writes),
    commit: (batch) => commit(writer, filter, batch),
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
