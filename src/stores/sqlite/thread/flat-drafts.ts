/**
 * Drafts on their way to another thread, as one flat list of texts and numbers. Copying a list of plain values between
 * threads costs a fraction of copying objects, whose keys are copied too. It buys more than 3 % of a send
 * (docs/benchmarks.md).
 */
import type { Push } from '../../../core/push.ts'
import type { DraftClaim } from '../claims.ts'
import type { Draft } from '../draft.ts'
import type { Value } from '../driver.ts'
import { COLUMNS } from '../task-columns.ts'

export type FlatDrafts = readonly Value[]

export function flatten(drafts: readonly Draft[]): FlatDrafts {
  const flat: Value[] = []
  for (const { taskId, expected, version, records, snapshot, pushes, row, claim } of drafts) {
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

/** Adds the drafts of a flat list to others. */
export function unflatten(flat: FlatDrafts, drafts: Draft[]): void {
  let at = 0
  const text = (): string => String(flat[at++])
  const number = (): number => Number(flat[at++])
  const optional = (): string | undefined => (flat[at] === null ? void at++ : text())

  const row = (): Draft['row'] => {
    at += COLUMNS
    return flat.slice(at - COLUMNS, at)
  }
  const claim = (): DraftClaim => ({
    place: text(),
    taskId: text(),
    digest: text(),
    createdAt: number(),
    reply: optional() ?? null,
    unclaimed: number() === 1,
  })

  while (at < flat.length) {
    drafts.push({
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
