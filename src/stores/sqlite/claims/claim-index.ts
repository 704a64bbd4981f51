/**
 * Finds claims by key. Claims are appended, and sorted by key in runs of `RUN` claims. Keys are
 * random, so a plain index would modify a different page for every claim. A send costs 9 to 13 %
 * more without this (docs/benchmarks.md).
 *
 *   claims  ──────────────┬──────────────┬─────────
 *           run 0         │ run 1        │ recent        (RUN positions each)
 *           claim_places ─┴──────────────┘ a map in memory
 *
 * A position is not reused while its run exists, so an entry of a run points to its own claim or to
 * no row.
 */

import type { ClaimKey } from '../../../ports/store/claims.ts'
import { fromText, toText } from '../../../ports/store/text.ts'
import type { Database, Row } from '../files/driver.ts'

export interface ClaimIndex {
  /** Returns the row of the claim. `place` is the key as text (`placeOf`). */
  find(place: string): Row | undefined
  /** Reserves a position, at which the caller writes the claim. */
  add(place: string): number
  /** Must be called after a rollback: everything is read from the database again. */
  forget(): void
}

interface Cached {
  /** Runs below this number are sorted. */
  run: number
  next: number
  /** Positions of claims that are not sorted yet. They are read at the first look-up. */
  recent: Map<string, number> | undefined
}

/** Claims per run, as in `migrations/0001-initial.sql`. Longer runs make look-ups faster and each sort slower. */
export const RUN = 16_384

export function createClaimIndex(db: Database): ClaimIndex {
  const lastRun = db.prepare('SELECT max(run) AS n FROM claim_places')
  const lastPos = db.prepare('SELECT max(pos) AS n FROM claims')
  const since = db.prepare('SELECT pos, place FROM claims WHERE pos >= ?')
  const at = db.prepare('SELECT * FROM claims WHERE pos = ? AND place = ?')
  const sort = db.prepare(
    `INSERT INTO claim_places (run, place, pos)
     SELECT ?, place, pos FROM claims WHERE pos >= ? AND pos < ? ORDER BY place`,
  )
  // The newest run comes first, because most repeated messages come soon after the original.
  const inRuns = db.prepare(
    `WITH RECURSIVE runs (run) AS (
       SELECT max(run) FROM claim_places
       UNION ALL
       SELECT run - 1 FROM runs WHERE run > (SELECT min(run) FROM claim_places)
     )
     SELECT claims.* FROM runs
     CROSS JOIN claim_places ON claim_places.run = runs.run AND claim_places.place = ?
     CROSS JOIN claims ON claims.pos = claim_places.pos LIMIT 1`,
  )
  let cached: Cached | undefined

  function read(): Cached {
    const run = Number(lastRun.get()?.['n'] ?? -1) + 1
    const next = Math.max(run * RUN, Number(lastPos.get()?.['n'] ?? 0) + 1)
    return { run, next, recent: undefined }
  }

  function readRecent({ run }: Cached): Map<string, number> {
    const recent = new Map<string, number>()
    for (const row of since.all(run * RUN)) recent.set(String(row['place']), Number(row['pos']))
    return recent
  }

  return {
    find(place) {
      cached ??= read()
      cached.recent ??= readRecent(cached)
      const pos = cached.recent.get(place)
      return (pos === undefined ? undefined : at.get(pos, place)) ?? inRuns.get(place)
    },
    add(place) {
      cached ??= read()
      const pos = cached.next++
      for (; pos >= (cached.run + 1) * RUN; cached.run++) {
        sort.run(cached.run, cached.run * RUN, (cached.run + 1) * RUN)
        cached.recent = undefined
      }
      cached.recent?.set(place, pos)
      return pos
    },
    forget() {
      cached = undefined
    },
  }
}

/** The key as one text, one part per line. Parts hold no line breaks, because `toText` escapes control characters. */
export function placeOf({ tenant, principal, agent, key }: ClaimKey): string {
  return `${toText(tenant)}\n${toText(principal)}\n${toText(agent)}\n${toText(key)}`
}

export function keyAt(place: string): ClaimKey {
  const [tenant = '', principal = '', agent = '', key = ''] = place.split('\n').map(fromText)
  return { tenant, principal, agent, key }
}
