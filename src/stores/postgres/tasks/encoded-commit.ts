/** Encodes commits as values that can be sent. */
import { pushStatus } from '../../../core/push.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import { malformation } from '../../../ports/store/commit-shape.ts'
import type { Commit, CommitResult } from '../../../ports/store/tasks.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Value } from '../connection/database.ts'
import { columnsOf, type SentRow, sendRow } from './rows.ts'

export interface EncodedCommit {
  readonly tenant: string
  readonly taskId: string
  /** The sequence numbers of the first and the last record. */
  readonly first: number
  readonly last: number
  /** The records as a JSON array. */
  readonly body: string
  readonly row: SentRow | undefined
  readonly snapshot: string | undefined
  readonly anchor: string | undefined
  readonly claim: SentClaim | undefined
  readonly pushes: readonly SentPush[]
  readonly spending: readonly SentSpending[]
  readonly holdEpoch: number | undefined
  readonly eventPos: number | undefined
}

/** The columns of a claim: tenant, principal, agent, key, digest, creation, reply. */
export type SentClaim = readonly [string, string, string, string, string, number, string | null]
type SentSpending = readonly [budgetId: string, period: number, amount: number]
type SentPush = readonly [id: string, status: string, body: string]

export type Failed = Extract<CommitResult, { status: 'failed' }>

/** Encodes before anything is sent, so that a value that is not JSON fails only its own commit. */
export function encodeCommit(commit: Commit): EncodedCommit | Failed {
  const problem = malformation(commit)
  if (problem !== undefined) {
    return { status: 'failed', kind: 'malformed', error: new TypeError(problem) }
  }
  try {
    const { tenant, taskId, expected, records, row, snapshot, anchor } = commit
    const { claim, holdEpoch, eventPos } = commit
    const { pushes = [], spending = [] } = commit
    return {
      tenant: toText(tenant),
      taskId: toText(taskId),
      first: expected + 1,
      last: expected + records.length,
      body: JSON.stringify(records),
      row: row && sendRow(row),
      snapshot: snapshot && JSON.stringify(snapshot),
      anchor,
      claim: claim && sendClaim(claim),
      pushes: pushes.map((push) => [toText(push.id), pushStatus(push), JSON.stringify(push)]),
      spending: spending.map((one) => [toText(one.budgetId), one.period, one.amount]),
      holdEpoch,
      eventPos,
    }
  } catch (error) {
    return { status: 'failed', kind: 'content', error }
  }
}

export function sendClaim(claim: Claim): SentClaim {
  const { tenant, principal, agent, key, digest, createdAt, reply } = claim
  return [
    toText(tenant),
    toText(principal),
    toText(agent),
    toText(key),
    toText(digest),
    createdAt,
    reply === undefined ? null : JSON.stringify(reply),
  ]
}

/**
 * The parameters of the commit function after the tenant. An array in which no commit has a value
 * is sent empty.
 */
export function parametersOf(commits: readonly EncodedCommit[], again: boolean): readonly Value[] {
  const pushes = commits.flatMap((commit, n) => commit.pushes.map((push) => [n + 1, ...push]))
  const spending = commits.flatMap((commit, n) => commit.spending.map((one) => [n + 1, ...one]))
  return [
    again,
    commits.map(({ taskId }) => taskId),
    commits.map(({ first }) => first),
    commits.map(({ last }) => last),
    commits.map(({ body }) => body),
    sparse(commits.map(({ holdEpoch }) => holdEpoch)),
    sparse(commits.map(({ eventPos }) => eventPos)),
    sparse(commits.map(({ snapshot }) => snapshot)),
    sparse(commits.map(({ anchor }) => anchor)),
    ...columnsOf(commits.map(({ row }) => row)),
    ...claimColumns(commits.map(({ claim }) => claim)),
    ...[0, 1, 2, 3].map((n) => pushes.map((push) => push[n])),
    ...[0, 1, 2, 3].map((n) => spending.map((one) => one[n])),
  ]
}

/** Without the tenant, which is that of the commit. */
const CLAIM_COLUMNS: readonly number[] = [1, 2, 3, 4, 5, 6]

function claimColumns(claims: readonly (SentClaim | undefined)[]): readonly (readonly Value[])[] {
  const none = claims.every((claim) => claim === undefined)
  return CLAIM_COLUMNS.map((n) => (none ? [] : claims.map((claim) => claim?.[n] ?? null)))
}

function sparse(values: readonly Value[]): readonly Value[] {
  return values.every((value) => value === undefined) ? [] : values
}
