/**
 * Drafts on their way to another thread: one flat list of texts and numbers. Copying a list of plain values between
 * threads costs a fraction of copying as many objects, whose every key travels too.
 */
import type { Push } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { DraftClaim } from '../claims.ts'
import type { Draft, DraftRow } from '../draft.ts'

type Value = string | number | null
export type Parcel = readonly Value[]

export function pack(drafts: readonly Draft[]): Parcel {
  const parcel: Value[] = []
  for (const draft of drafts) {
    parcel.push(draft.taskId, draft.expected, draft.version, draft.records)
    parcel.push(draft.waits, draft.snapshot ?? null)
    packRow(parcel, draft.row)
    packClaim(parcel, draft.claim)
    parcel.push(draft.pushes.length)
    for (const push of draft.pushes) parcel.push(JSON.stringify(push))
  }
  return parcel
}

function packRow(parcel: Value[], row: DraftRow | undefined): void {
  if (row === undefined) {
    parcel.push(0)
    return
  }
  parcel.push(
    1,
    row.tenant,
    row.principal,
    row.agent,
    row.contextId,
    row.parentId ?? null,
    row.state,
    row.createdAt,
    row.statusAt,
    row.readyAt ?? null,
    row.owner ?? null,
    row.dueAt ?? null,
    row.held ? 1 : 0,
  )
}

function packClaim(parcel: Value[], claim: DraftClaim | undefined): void {
  if (claim === undefined) {
    parcel.push(0)
    return
  }
  parcel.push(
    1,
    claim.place,
    claim.taskId,
    claim.digest,
    claim.createdAt,
    claim.reply,
    claim.unclaimed ? 1 : 0,
  )
}

/** Adds the drafts of a parcel to others. */
export function unpack(parcel: Parcel, drafts: Draft[]): void {
  let place = 0
  const next = <T extends Value>(): T => parcel[place++] as T
  const maybe = <T extends Value>(): T | undefined =>
    (parcel[place++] ?? undefined) as T | undefined

  const row = (id: string): DraftRow => ({
    id,
    tenant: next(),
    principal: next(),
    agent: next(),
    contextId: next(),
    parentId: maybe(),
    state: next<State>(),
    createdAt: next(),
    statusAt: next(),
    readyAt: maybe(),
    owner: maybe(),
    dueAt: maybe(),
    held: next() === 1,
  })

  const claim = (): DraftClaim => ({
    place: next(),
    taskId: next(),
    digest: next(),
    createdAt: next(),
    reply: next(),
    unclaimed: next() === 1,
  })

  while (place < parcel.length) {
    const taskId = next<string>()
    drafts.push({
      taskId,
      expected: next(),
      version: next(),
      records: next(),
      waits: next(),
      snapshot: maybe(),
      row: next() === 0 ? undefined : row(taskId),
      claim: next() === 0 ? undefined : claim(),
      pushes: Array.from({ length: next() }, () => JSON.parse(next()) as Push),
    })
  }
}
