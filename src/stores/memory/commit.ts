import { FOREIGN_ID, malformation } from '../../ports/store/commit-shape.ts'
import type { Commit, CommitResult } from '../../ports/store/tasks.ts'
import type { Claims } from './claims.ts'
import type { Policies } from './policies.ts'
import type { Pushes } from './pushes.ts'
import type { EncodedCommit, Tasks } from './tasks.ts'

const failed = { status: 'failed', kind: 'content' } as const

export interface CommitTargets {
  readonly tasks: Tasks
  readonly claims: Claims
  readonly pushes: Pushes
  readonly policies: Pick<Policies, 'spend'>
}

/**
 * Applies a batch of commits. Each commit is encoded first, and then applied in steps that cannot
 * fail, which makes it atomic.
 */
export function createCommit(
  { tasks, claims, pushes, policies }: CommitTargets,
  isOutdated: (commit: Commit) => boolean = () => false,
): (batch: readonly Commit[]) => readonly CommitResult[] {
  function apply(commit: Commit): CommitResult {
    const problem = malformation(commit)
    if (problem !== undefined) {
      return { status: 'failed', kind: 'malformed', error: new TypeError(problem) }
    }
    let encoded: EncodedCommit
    try {
      encoded = encodeCommit(commit)
    } catch (error) {
      return { ...failed, error }
    }
    const { tenant, taskId, expected, claim } = commit
    if ((tasks.tenantOf(taskId) ?? tenant) !== tenant)
      return { ...failed, error: new TypeError(FOREIGN_ID) }
    const taken = claim && claims.findClaim(claim)
    if (taken !== undefined && (taken.taskId !== taskId || expected > 0)) {
      return { status: 'claimed', claim: taken }
    }
    const version = tasks.version({ tenant, id: taskId })
    if (version !== expected) return { status: 'conflict', version }
    if (isOutdated(commit)) return { status: 'outdated' }
    if (claim !== undefined) claims.take(claim)
    tasks.write(taskId, encoded)
    for (const push of commit.pushes ?? []) pushes.putPush(push)
    for (const one of commit.spending ?? []) policies.spend(one)
    return { status: 'written' }
  }

  return (batch) => batch.map(apply)
}

function encodeCommit({ records, row, snapshot, anchor }: Commit): EncodedCommit {
  return {
    bodies: records.map((record) => JSON.stringify(record)),
    row: row && JSON.parse(JSON.stringify(row)),
    snapshot: snapshot && JSON.stringify(snapshot),
    anchor,
  }
}
