/**
 * Writes a batch of commits in one transaction, and so with one fsync.
 *
 *   encode each ─▶ BEGIN, apply each, count, COMMIT ─▶ results
 *                    │ one of them threw
 *                    └─▶ ROLLBACK, BEGIN, apply each in a savepoint of its own, COMMIT ─▶ results
 *
 * When nothing can be written (disk full, I/O error), the whole batch is rolled back and the error is thrown.
 */
import type { CommitResult } from '../../../ports/store/tasks.ts'
import type { Claims } from '../claims/claims.ts'
import { concernsStore } from '../failures.ts'
import type { Database } from '../files/driver.ts'
import type { Transact } from '../transaction.ts'
import type { Apply } from './apply.ts'
import type { CountUsage, Written } from './count-usage.ts'
import type { Counts } from './counts.ts'
import type { EncodedCommit, Failed } from './encoded-commit.ts'

/**
 * Writes commits. Results are in the order of the batch, and include commits that could not be
 * encoded.
 */
export type Write = (commits: readonly (EncodedCommit | Failed)[]) => readonly CommitResult[]

export function createWrite(
  db: Database,
  transact: Transact,
  apply: Apply,
  counts: Counts,
  claims: Pick<Claims, 'forget'>,
  countUsage: CountUsage,
): Write {
  const savepoint = db.prepare('SAVEPOINT one')
  const undo = db.prepare('ROLLBACK TO one')
  const release = db.prepare('RELEASE one')

  const applyAlone: Apply = (commit, all) => {
    let result: CommitResult
    const before = all.length
    savepoint.run()
    try {
      result = apply(commit, all)
    } catch (error) {
      // If the store cannot write at all, the whole transaction is rolled back, including its
      // savepoints.
      if (concernsStore(error)) throw error
      undo.run()
      claims.forget()
      all.length = before
      result = { status: 'failed', kind: 'content', error }
    }
    release.run()
    return result
  }

  return (commits) => {
    if (commits.length === 0) return []
    const together = (use: Apply): readonly CommitResult[] => {
      const all: Written[] = []
      const results = transact(() => {
        const each = commits.map((commit) => ('status' in commit ? commit : use(commit, all)))
        countUsage(all)
        return each
      })
      for (const { move } of all) if (move !== undefined) counts.follow(move)
      return results
    }
    try {
      return together(apply)
    } catch (error) {
      if (concernsStore(error)) throw error
      return together(applyAlone)
    }
  }
}
