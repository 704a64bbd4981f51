/**
 * Stores which tasks wait for which event. The table `waits` finds tasks by name; the row of a task
 * has its names.
 */

import { fromText, toText } from '../../../ports/store/text.ts'
import type { Direct } from '../../../ports/store.ts'
import type { Database } from '../files/driver.ts'

export interface Waits extends Direct<'waiting' | 'waitNames' | 'waitOwners'> {
  /**
   * `before` and `after` are values of the column `waits`: JSON, or null for none. Tenant and id
   * are escaped (`ports/store/text.ts`).
   */
  replaceWaits(tenant: string, id: string, before: string | null, after: string | null): void
}

export function createWaits(db: Database): Waits {
  const insert = db.prepare('INSERT OR IGNORE INTO waits (tenant, name, task_id) VALUES (?, ?, ?)')
  const remove = db.prepare('DELETE FROM waits WHERE tenant = ? AND name = ? AND task_id = ?')
  const select = db.prepare(
    `SELECT task_id FROM waits WHERE tenant = ? AND name = ? AND task_id > ?
     ORDER BY task_id LIMIT ?`,
  )
  const nextName = db.prepare(
    'SELECT min(name) AS name FROM waits WHERE tenant = ? AND name > ? AND name < ?',
  )
  const owner = db.prepare(
    `SELECT principal FROM tasks WHERE id =
       (SELECT task_id FROM waits WHERE tenant = ? AND name = ? ORDER BY task_id LIMIT 1)`,
  )
  return {
    replaceWaits(tenant, id, before, after) {
      if (before === after) return
      for (const name of namesIn(before)) remove.run(tenant, toText(name), id)
      for (const name of namesIn(after)) insert.run(tenant, toText(name), id)
    },
    // Runs one query per name. A single query over all names would sort every waiting task.
    waiting(tenant, names, after, limit) {
      const found = new Set<string>()
      for (const name of names) {
        for (const row of select.all(toText(tenant), toText(name), toText(after), limit)) {
          found.add(fromText(String(row['task_id'])))
        }
      }
      return [...found].sort().slice(0, limit)
    },
    // Jumps from one name to the next, because many tasks may wait for the same name.
    waitNames(tenant, prefix, after, limit) {
      const start = toText(prefix)
      const found: string[] = []
      let last = after > prefix ? toText(after) : start
      while (found.length < limit) {
        const next = nextName.get(toText(tenant), last, textAfter(start))?.['name']
        if (typeof next !== 'string') break
        found.push(fromText(next))
        last = next
      }
      return found
    },
    waitOwners: (tenant, names) =>
      names.flatMap((name) => {
        const row = owner.get(toText(tenant), toText(name))
        return row === undefined ? [] : fromText(String(row['principal']))
      }),
  }
}

/** The smallest text greater than every text with the prefix. */
function textAfter(prefix: string): string {
  const last = prefix.length - 1
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)
}

/** The names in the column `waits`. A damaged column counts as empty, because the names can be derived from the log. */
export function namesIn(json: string | null): readonly string[] {
  if (json === null) return []
  try {
    return JSON.parse(json) as readonly string[]
  } catch {
    return []
  }
}
