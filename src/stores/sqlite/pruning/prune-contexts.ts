/** Removes messages and sessions of contexts without an open task. */
import type { PruneResult } from '../../../ports/store/pruning.ts'
import type { Database } from '../files/driver.ts'
import { hasOpenTask } from '../tasks/open-tasks.ts'

type Prune = (before: number, limit: number, after?: string) => PruneResult

/** Prunes messages. They are ordered by age, so a page without an old one is the last. */
export function createPruneMessages(db: Database): Prune {
  const next = db.prepare(
    `SELECT pos, at, ${hasOpenTask('m.tenant', 'm.principal', 'm.context_id')} AS needed
     FROM context_messages AS m WHERE pos > ? ORDER BY pos LIMIT ?`,
  )
  const remove = db.prepare('DELETE FROM context_messages WHERE pos = ?')
  return (before, limit, after = '0') => {
    const rows = next.all(Number(after), limit)
    const old = rows.filter((row) => Number(row['at']) < before)
    const unneeded = old.filter((row) => row['needed'] === 0)
    for (const { pos = null } of unneeded) remove.run(pos)
    const last = rows.at(-1)
    const removed = unneeded.length
    const isLast = rows.length < limit || old.length === 0
    return isLast ? { removed } : { removed, after: String(last?.['pos']) }
  }
}

export function createPruneSessions(db: Database): Prune {
  const next = db.prepare(
    `SELECT tenant, principal, id, updated_at,
       ${hasOpenTask('s.tenant', 's.principal', 's.id')} AS needed
     FROM sessions AS s WHERE (tenant, principal, id) > (?, ?, ?)
     ORDER BY tenant, principal, id LIMIT ?`,
  )
  const remove = db.prepare('DELETE FROM sessions WHERE tenant = ? AND principal = ? AND id = ?')
  return (before, limit, after = '["","",""]') => {
    const from = JSON.parse(after) as readonly [string, string, string]
    const keys = next.all(...from, limit).map((row) => ({
      key: [String(row['tenant']), String(row['principal']), String(row['id'])] as const,
      unneeded: row['needed'] === 0 && Number(row['updated_at']) < before,
    }))
    const removed = keys.filter(({ unneeded }) => unneeded)
    for (const { key } of removed) remove.run(...key)
    const last = keys.at(-1)
    return {
      removed: removed.length,
      ...(last === undefined || keys.length < limit ? {} : { after: JSON.stringify(last.key) }),
    }
  }
}
