/**
 * Encoded commits as one flat list of texts and numbers, to be copied between threads. Copying objects would copy their
 * keys too. The flat list saves 5 % of a send (docs/benchmarks.md).
 */
import type { Push } from '../../../core/push.ts'
import type { EncodedClaim } from '../claims.ts'
import type { Value } from '../driver.ts'
import type { EncodedCommit } from '../encoded-commit.ts'
import { COLUMNS } from '../task-columns.ts'

export type FlatCommits = readonly Value[]

export function flatten(commits: readonly EncodedCommit[]): FlatCommits {
  const flat: Value[] = []
  for (const { taskId, expected, version, records, snapshot, pushes, row, claim } of commits) {
    flat.push(taskId, expected, version, records, snapshot ?? null)
    flat.push(pushes === undefined ? null : JSON.stringify(pushes))
    flat.push(row === undefined ? 0 : 1)
    if (row !== undefined) flat.push(...row)
    flat.push(claim === undefined ? 0 : 1)
    if (claim === undefined) continue
    const { place, digest, createdAt, reply, unclaimed } = claim
    flat.push(place, claim.taskId, digest, createdAt, reply, unclaimed ? 1 : 0)
  }
  return flat
}

/** Appends the commits of a flat list to `commits`. */
export function unflatten(flat: FlatCommits, commits: EncodedCommit[]): void {
  let at = 0
  const text = (): string => String(flat[at++])
  const number = (): number => Number(flat[at++])
  const optional = (): string | undefined => (flat[at] === null ? void at++ : text())

  const row = (): EncodedCommit['row'] => {
    at += COLUMNS
    return flat.slice(at - COLUMNS, at)
  }
  const claim = (): EncodedClaim => ({
    place: text(),
    taskId: text(),
    digest: text(),
    createdAt: number(),
    reply: optional() ?? null,
    unclaimed: number() === 1,
  })

  while (at < flat.length) {
    commits.push({
      taskId: text(),
      expected: number(),
      version: number(),
      records: text(),
      snapshot: optional(),
      pushes: pushesIn(optional()),
      row: number() === 0 ? undefined : row(),
      claim: number() === 0 ? undefined : claim(),
    })
  }
}

function pushesIn(json: string | undefined): readonly Push[] | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as readonly Push[])
}
