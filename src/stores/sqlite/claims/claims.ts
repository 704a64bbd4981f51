import type { Message } from '../../../core/messages/message.ts'
import type { Claim } from '../../../ports/store/claims.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Database, Row } from '../files/driver.ts'
import type { ClaimFilter } from './claim-filter.ts'
import { createClaimIndex, keyAt, placeOf } from './claim-index.ts'

/** A claim encoded as plain values. */
export interface EncodedClaim {
  readonly place: string
  readonly taskId: string
  readonly digest: string
  readonly createdAt: number
  /** JSON, or null for none. */
  readonly reply: string | null
  /**
   * The filter shows that the key is certainly not claimed (`claim-filter.ts`), so no look-up is
   * needed.
   */
  readonly unclaimed: boolean
}

export interface Claims {
  find(place: string): Claim | undefined
  /**
   * Claims the key. Returns the existing claim if the key is taken, and undefined if this claim was
   * written.
   */
  take(claim: EncodedClaim): Claim | undefined
  drop(claim: EncodedClaim): void
  /** Stores the reply. False when the claim has a reply already, or belongs to another task. */
  answer(claim: EncodedClaim): boolean
  /** Must be called after a rollback: positions are read again. */
  forget(): void
}

export function createClaims(db: Database): Claims {
  const index = createClaimIndex(db)
  const insert = db.prepare(
    'INSERT INTO claims (pos, place, task_id, digest, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = db.prepare('DELETE FROM claims WHERE pos = ?')
  const answer = db.prepare(
    'UPDATE claims SET reply = ? WHERE pos = ? AND task_id = ? AND reply IS NULL',
  )
  const posOf = (place: string): number | null => {
    const row = index.find(place)
    return row === undefined ? null : Number(row['pos'])
  }

  function find(place: string): Claim | undefined {
    const row = index.find(place)
    return row && toClaim(row)
  }

  return {
    find,
    take(claim) {
      const holder = claim.unclaimed ? undefined : find(claim.place)
      if (holder !== undefined) return holder
      const { place, taskId, digest, createdAt, reply } = claim
      const pos = index.add(place)
      insert.run(pos, place, toText(taskId), toText(digest), createdAt)
      if (reply !== null) answer.run(reply, pos, toText(taskId))
      return undefined
    },
    drop: ({ place }) => {
      remove.run(posOf(place))
    },
    answer: ({ place, taskId, reply }) =>
      Number(answer.run(reply, posOf(place), toText(taskId)).changes) === 1,
    forget: index.forget,
  }
}

/** Encodes the claim and adds its key to the filter. Without a filter, every claim is looked up. */
export function encodeClaim(claim: Claim, filter?: ClaimFilter): EncodedClaim {
  const place = placeOf(claim)
  const { taskId, digest, createdAt, reply } = claim
  return {
    place,
    taskId,
    digest,
    createdAt,
    reply: reply === undefined ? null : JSON.stringify(reply),
    unclaimed: filter?.add(claim) === false,
  }
}

function toClaim(row: Row): Claim {
  return {
    ...keyAt(String(row['place'])),
    taskId: fromText(String(row['task_id'])),
    digest: fromText(String(row['digest'])),
    createdAt: Number(row['created_at']),
    ...(row['reply'] === null ? {} : { reply: JSON.parse(String(row['reply'])) as Message }),
  }
}
