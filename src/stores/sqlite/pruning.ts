/** Retention. Each call removes at most `limit` things in one transaction, so that it never blocks for long. */
import { isTerminal, states } from '../../core/states.ts'
import { RUN } from './claim-places.ts'
import type { Database, Row } from './driver.ts'
import type { Transact } from './transaction.ts'
import type { Waits } from './waits.ts'

export interface Pruning {
  tasks(statusBefore: number, limit: number): number
  events(receivedBefore: number, limit: number): number
  claims(createdBefore: number, limit: number): number
}

/** Claims that are looked at together. */
const SLICE = 500
/** Slices with nothing to remove, one after the other, before a call gives up for now. */
const IDLE_SLICES = 8

export function createPruning(db: Database, transact: Transact, waits: Waits): Pruning {
  const ended = db.prepare(
    `SELECT num, id, tenant, waits FROM tasks INDEXED BY tasks_by_state
     WHERE state = ? AND status_at < ? ORDER BY status_at LIMIT ?`,
  )
  const removals = [
    db.prepare('DELETE FROM records WHERE pos = ? AND task IS NULL'),
    db.prepare('DELETE FROM records WHERE task = ?'),
    db.prepare('DELETE FROM snapshots WHERE task = ?'),
    db.prepare('DELETE FROM tasks WHERE num = ?'),
  ]
  const pushes = db.prepare('DELETE FROM pushes WHERE task_id = ?')
  const events = db.prepare(
    `DELETE FROM events WHERE pos IN
     (SELECT pos FROM events WHERE received_at < ? ORDER BY received_at LIMIT ?)`,
  )
  const claims = createPruneClaims(db)

  // Claims outlive their task: a message that is delivered again must not start it anew.
  function remove(task: Row): void {
    const { num = null, id, tenant, waits: names = null } = task
    waits.replace(String(tenant), String(id), names as string | null, null)
    for (const removal of removals) removal.run(num)
    pushes.run(String(id))
  }

  return {
    tasks: (statusBefore, limit) =>
      transact(() => {
        let removed = 0
        for (const state of states.filter(isTerminal)) {
          const old = ended.all(state, statusBefore, limit - removed)
          old.forEach(remove)
          removed += old.length
        }
        return removed
      }),
    events: (receivedBefore, limit) => Number(events.run(receivedBefore, limit).changes),
    claims: (createdBefore, limit) => transact(() => claims(createdBefore, limit)),
  }
}

/**
 * Claims are in the order they came, which is nearly that of their age: they are read from the oldest on for as long as
 * there is one to remove among them. Where a clock was ahead there is none for a while, so each call also looks a bit
 * further on than the one before it.
 */
function createPruneClaims(db: Database): Pruning['claims'] {
  const next = db.prepare('SELECT pos, created_at FROM claims WHERE pos > ? ORDER BY pos LIMIT ?')
  const remove = db.prepare('DELETE FROM claims WHERE pos = ?')
  const dropRuns = db.prepare(
    `DELETE FROM claim_places WHERE run < (SELECT min(pos) FROM claims) / ${RUN}`,
  )
  /** How far the look past the oldest has come. */
  let beyond = 0

  /** From there on, until so many slices in a row had nothing to remove. `after` is 0 at the end of all. */
  function pruneFrom(
    start: number,
    createdBefore: number,
    limit: number,
    patience: number,
  ): { readonly removed: number; readonly after: number } {
    let after = start
    let removed = 0
    for (let idle = 0; idle < patience && removed < limit; idle++) {
      const rows = next.all(after, SLICE)
      for (const { pos = null, created_at: at } of rows) {
        if (removed === limit) return { removed, after }
        after = Number(pos)
        if (Number(at) >= createdBefore) continue
        remove.run(pos)
        removed++
        idle = -1
      }
      if (rows.length < SLICE) return { removed, after: 0 }
    }
    return { removed, after }
  }

  return (createdBefore, limit) => {
    const oldest = pruneFrom(0, createdBefore, limit, 1)
    const others = pruneFrom(beyond, createdBefore, limit - oldest.removed, IDLE_SLICES)
    beyond = others.after
    const removed = oldest.removed + others.removed
    if (removed > 0) dropRuns.run()
    return removed
  }
}
