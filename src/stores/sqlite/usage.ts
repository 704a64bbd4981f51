/** Reads the totals that commits and triggers maintain, and the size of the file and its disk. */
import { statfsSync } from 'node:fs'
import type { StoredUsage } from '../../ports/store/usage.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database, Row } from './files/driver.ts'
import { toText } from './text.ts'

export function createUsage(db: Database): Direct<'usage'>['usage'] {
  const ofPrincipal = db.prepare(
    'SELECT tasks, open_tasks, bytes FROM usage WHERE tenant = ? AND principal = ?',
  )
  const ofTenant = db.prepare(
    `SELECT sum(tasks) AS tasks, sum(open_tasks) AS open_tasks, sum(bytes) AS bytes
     FROM usage WHERE tenant = ?`,
  )
  return (tenant, principal) => ({
    principal: toUsage(ofPrincipal.get(toText(tenant), toText(principal))),
    tenant: toUsage(ofTenant.get(toText(tenant))),
  })
}

function toUsage(row: Row | undefined): StoredUsage {
  return {
    tasks: Number(row?.['tasks'] ?? 0),
    openTasks: Number(row?.['open_tasks'] ?? 0),
    bytes: Number(row?.['bytes'] ?? 0),
  }
}

/** Computes used and free space. Pages of removed rows are reused, so they count as free. */
export function createSpace(db: Database): Direct<'space'>['space'] {
  const pragma = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
  return () => {
    const pageSize = pragma('page_size')
    const pages = pragma('page_count')
    const reusable = pragma('freelist_count') * pageSize
    const usedBytes = pages * pageSize - reusable
    const file = db.prepare('PRAGMA database_list').get()?.['file']
    // A database in memory has no file.
    if (typeof file !== 'string' || file === '') return { usedBytes }
    const { bavail, bsize } = statfsSync(file)
    const untilLimit = (pragma('max_page_count') - pages) * pageSize
    return { usedBytes, freeBytes: Math.min(bavail * bsize, untilLimit) + reusable }
  }
}
