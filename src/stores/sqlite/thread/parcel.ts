/**
 * Drafts on their way to another thread: one flat list of texts and numbers. Copying a list of plain values between
 * threads costs a fraction of copying as many objects, whose every key travels too.
 */
import type { Push } from '../../../core/push.ts'
import type { State } from '../../../core/states.ts'
import type { Draft, DraftRow } from '../apply.ts'
import type { DraftClaim } from '../claims.ts'

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

export function unpack(parcel: Parcel): readonly Draft[] {
  const drafts: Draft[] = []
  let place = 0
  const text = (): string => parcel[place++] as string
  const number = (): number => parcel[place++] as number
  const maybe = <T extends Value>(): T | undefined =>
    (parcel[place++] ?? undefined) as T | undefined

  function row(id: string): DraftRow | undefined {
    if (number() === 0) return undefined
    const facts = { tenant: text(), principal: text(), agent: text(), contextId: text() }
    const parentId = maybe<string>()
    const state = text() as State
    const times = { createdAt: number(), statusAt: number() }
    const [readyAt, owner, dueAt] = [maybe<number>(), maybe<string>(), maybe<number>()]
    return {
      id,
      ...facts,
      ...(parentId === undefined ? {} : { parentId }),
      state,
      ...times,
      ...(readyAt === undefined ? {} : { readyAt }),
      ...(owner === undefined ? {} : { owner }),
      ...(dueAt === undefined ? {} : { dueAt }),
      held: number() === 1,
    }
  }

  function claim(): DraftClaim | undefined {
    if (number() === 0) return undefined
    return {
      place: text(),
      taskId: text(),
      digest: text(),
      createdAt: number(),
      reply: maybe<string>() ?? null,
      unclaimed: number() === 1,
    }
  }

  while (place < parcel.length) {
    const taskId = text()
    const [expected, version] = [number(), number()]
    const records = text()
    const waits = maybe<string>() ?? null
    const snapshot = maybe<string>()
    const facts = { row: row(taskId), claim: claim() }
    const pushes = Array.from({ length: number() }, () => JSON.parse(text()) as Push)
    drafts.push({ taskId, expected, waits, snapshot, version, records, ...facts, pushes })
  }
  return drafts
}
