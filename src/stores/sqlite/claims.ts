import type { Message } from '../../core/message.ts'
import type { Claim } from '../../ports/store/claims.ts'
import type { ClaimFilter } from './claim-filter.ts'
import { createClaimIndex } from './claim-index.ts'
import { keyAt, placeOf } from './claim-key.ts'
import type { Database, Row } from './driver.ts'
import { fromText, toText } from './text.ts'

/** A claim as text. */
export interface EncodedClaim {
  readonly place: string
  readonly taskId: string
  readonly digest: string
  readonly createdAt: number
  /** JSON, or null for none. */
  readonly reply: string | null
  /** Certainly nobody has it (`claim-filter.ts`): there is nothing to look up. */
  readonly unclaimed: boolean
}

export interface Claims {
  find(place: string): Claim | undefined
  /** Claims the key unless it is taken; whoever has it then, undefined when that is new. */
  take(claim: EncodedClaim): Claim | undefined
  drop(claim: EncodedClaim): void
  /** False where there is a reply already, or it is another's. */
  answer(claim: EncodedClaim): boolean
  /** What was written since is undone. */
  forget(): void
}

export function createClaims(db: Database): Claims {
  const places = createClaimIndex(db)
  const insert = db.prepare(
    'INSERT INTO claims (pos, place, task_id, digest, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = db.prepare('DELETE FROM claims WHERE pos = ?')
  const answer = db.prepare(
    'UPDATE claims SET reply = ? WHERE pos = ? AND task_id = ? AND reply IS NULL',
  )
  const posOf = (place: string): number | null => {
    const row = places.find(place)
    return row === undefined ? null : Number(row['pos'])
  }

  function find(place: string): Claim | undefined {
    const row = places.find(place)
    return row && toClaim(row)
  }

  return {
    find,
    take(claim) {
      const holder = claim.unclaimed ? undefined : find(claim.place)
      if (holder !== undefined) return holder
      const { place, taskId, digest, createdAt, reply } = claim
      const pos = places.add(place)
      insert.get(pos, place, toText(taskId), toText(digest), createdAt)
      if (reply !== null) answer.run(reply, pos, toText(taskId))
      return undefined
    },
    drop: ({ place }) => {
      remove.run(posOf(place))
    },
    answer: ({ place, taskId, reply }) =>
      Number(answer.run(reply, posOf(place), toText(taskId)).changes) === 1,
    forget: places.forget,
  }
}

/** Noted as claimed: it may be from now on. Without a filter nobody knows whether it is. */
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
