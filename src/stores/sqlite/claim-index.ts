/**
 * Where the claim of a key is. Keys are random: an index in their order costs a page to write for every claim, more than
 * all the rest of a task that begins. So they are sorted later, many at a time.
 *
 *   claims  ──────────────┬──────────────┬─────────
 *           run 0         │ run 1        │ recent        (RUN positions each)
 *           claim_places ─┴──────────────┘ a map in memory
 *
 * A position is not used again while its run is there, so what a run points to is either that claim or gone.
 */
import type { Database, Row } from './driver.ts'

export interface ClaimIndex {
  /** The row of the claim. */
  find(place: string): Row | undefined
  /** The position for a new claim, which is to be written there. */
  add(place: string): number
  /** What was written since is undone, or it is not known what: look again. */
  forget(): void
}

interface Known {
  /** Runs below this one are sorted. */
  run: number
  next: number
  /** Read when it is first asked for: what is new needs no look-up. */
  recent: Map<string, number> | undefined
}

/** As in `migrations/0005-claim-runs.sql`. Fewer runs are looked through sooner; sorting a longer one keeps others waiting. */
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
  // The newest run first: what is sent again mostly comes soon.
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
  let known: Known | undefined

  function read(): Known {
    const run = Number(lastRun.get()?.['n'] ?? -1) + 1
    const next = Math.max(run * RUN, Number(lastPos.get()?.['n'] ?? 0) + 1)
    return { run, next, recent: undefined }
  }

  function readRecent({ run }: Known): Map<string, number> {
    const recent = new Map<string, number>()
    for (const row of since.all(run * RUN)) recent.set(String(row['place']), Number(row['pos']))
    return recent
  }

  return {
    find(place) {
      known ??= read()
      known.recent ??= readRecent(known)
      const pos = known.recent.get(place)
      return (pos === undefined ? undefined : at.get(pos, place)) ?? inRuns.get(place)
    },
    add(place) {
      known ??= read()
      const pos = known.next++
      for (; pos >= (known.run + 1) * RUN; known.run++) {
        sort.run(known.run, known.run * RUN, (known.run + 1) * RUN)
        known.recent = undefined
      }
      known.recent?.set(place, pos)
      return pos
    },
    forget() {
      known = undefined
    },
  }
}
