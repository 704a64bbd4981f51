/**
 * Writes batches of commits. A batch is one round trip. Invariants (commit.test.ts):
 *  B1  a call contains each task and each claimed key at most once; further commits to them go into
 *      later calls;
 *  B2  a commit that the database refuses for its content fails alone: the batch is halved until that commit is alone;
 *  B3  after a lost connection, the same call is sent again; a commit whose records are already in
 *      the log counts as written;
 *  B4  a batch fails as a whole only when nothing of it was written, or when the store was closed.
 */
import type { CommitResult } from '../../../ports/store/tasks.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Row, Value } from '../connection/database.ts'
import { failureOf } from '../connection/failures.ts'
import { readClaim } from './claims.ts'
import { type EncodedCommit, encodeCommit, parametersOf } from './encoded-commit.ts'

const written: CommitResult = { status: 'written' }

/** A commit with its index in the batch. */
interface Placed {
  readonly place: number
  readonly commit: EncodedCommit
}

/** The state of one batch under way. */
interface Progress {
  /** Whether a call for some of its commits was answered. */
  isBegun: boolean
}

/**
 * Which form of the commit function is called (`commit-forms.ts`): with the tenant of each commit,
 * or with one tenant.
 */
export type CommitForm = 'of-many' | 'of-one'

export function createCommit(db: Database, form: CommitForm = 'of-many'): Store['commit'] {
  const arity = parametersOf([], false).length + 1
  const parameters = Array.from({ length: arity }, (_, n) => `$${n + 1}`).join(', ')
  const name = form === 'of-many' ? 'commit_1' : 'commit_of_tenant_1'
  const call = `SELECT place, status, version, detail FROM ${db.schema}.${name}(${parameters})`

  async function send(
    commits: readonly EncodedCommit[],
    batch: Progress,
  ): Promise<readonly CommitResult[]> {
    let resent = false
    const tenants = commits.map(({ tenant }) => tenant)
    const values = (again: boolean): readonly Value[] => {
      resent = again
      return [form === 'of-many' ? tenants : tenants[0], ...parametersOf(commits, again)]
    }
    const refused = await db.writeOnce(call, values, batch.isBegun)
    batch.isBegun = true
    const byPlace = new Map(refused.map((row) => [Number(row['place']), row]))
    return commits.map((commit, n) => {
      const row = byPlace.get(n + 1)
      return row === undefined ? written : toResult(row, commit, resent)
    })
  }

  /**
   * Sends the commits. If one of them cannot be stored, halves the batch until that commit is
   * alone.
   */
  async function sendOrHalve(
    commits: readonly EncodedCommit[],
    batch: Progress,
  ): Promise<readonly CommitResult[]> {
    try {
      return await send(commits, batch)
    } catch (error) {
      if (failureOf(error).kind !== 'content') throw error
      if (commits.length === 1) return [{ status: 'failed', kind: 'content', error }]
      const half = commits.length >> 1
      const first = await sendOrHalve(commits.slice(0, half), batch)
      return [...first, ...(await sendOrHalve(commits.slice(half), batch))]
    }
  }

  return async (batch) => {
    const results: CommitResult[] = []
    const toSend: Placed[] = []
    for (const [place, commit] of batch.map(encodeCommit).entries()) {
      if ('status' in commit) results[place] = commit
      else toSend.push({ place, commit })
    }
    const progress: Progress = { isBegun: false }
    for (const round of roundsOf(toSend, form)) {
      const answers = await sendOrHalve(
        round.map(({ commit }) => commit),
        progress,
      )
      for (const [n, { place }] of round.entries()) results[place] = answers[n] ?? written
    }
    return results
  }
}

/**
 * Splits a batch into rounds. Each round has every task and every claimed key at most once, and in
 * the form with one tenant only commits of that tenant. Commits to one task keep their order.
 */
function roundsOf(commits: readonly Placed[], form: CommitForm): readonly (readonly Placed[])[] {
  const rounds = new Map<string, Placed[]>()
  const used = new Map<string, number>()
  for (const placed of commits) {
    const { tenant, taskId, claim } = placed.commit
    const task = JSON.stringify([tenant, taskId])
    const names = [`task ${task}`, ...(claim ? [`key ${claim.slice(0, 4).join('\n')}`] : [])]
    const number = Math.max(...names.map((name) => used.get(name) ?? 0))
    for (const name of names) used.set(name, number + 1)
    const round = form === 'of-many' ? `${number}` : `${number} ${tenant}`
    const group = rounds.get(round)
    if (group === undefined) rounds.set(round, [placed])
    else group.push(placed)
  }
  return [...rounds.values()]
}

function toResult(row: Row, commit: EncodedCommit, resent: boolean): CommitResult {
  if (row['status'] === 'claimed') {
    return { status: 'claimed', claim: readClaim(JSON.parse(String(row['detail'])) as Row) }
  }
  if (row['status'] === 'outdated') return { status: 'outdated' }
  // Records contain the instant and the token of their run, so an equal text can only be an earlier
  // attempt of the same call.
  if (resent && row['detail'] === commit.body) return written
  return { status: 'conflict', version: Number(row['version']) }
}
