/**
 * How much is stored: the totals of each principal, and the size of the file and its disk. Commits
 * add to the totals, and triggers subtract what is removed.
 */

import { statfsSync } from 'node:fs'
import { isTerminal, type State } from '../../core/states.ts'
import { toText } from '../../ports/store/text.ts'
import type { StoredUsage } from '../../ports/store/usage.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database, Row } from './files/driver.ts'
import { type BoundRow, readField } from './tasks/task-columns.ts'

export function createUsage(db: Database): Direct<'usage' | 'space'> {
  const ofPrincipal = db.prepare(
    'SELECT tasks, open_tasks, bytes FROM usage WHERE tenant = ? AND principal = ?',
  )
  const ofTenant = db.prepare(
    `SELECT sum(tasks) AS tasks, sum(open_tasks) AS open_tasks, sum(bytes) AS bytes
     FROM usage WHERE tenant = ?`,
  )
  const pragma = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
  return {
    usage: (tenant, principal) => ({
      principal: toUsage(ofPrincipal.get(toText(tenant), toText(principal))),
      tenant: toUsage(ofTenant.get(toText(tenant))),
    }),
    space() {
      const pageSize = pragma('page_size')
      const pages = pragma('page_count')
      // Pages of removed rows are reused, so they count as free.
      const reusable = pragma('freelist_count') * pageSize
      const usedBytes = pages * pageSize - reusable
      const file = db.prepare('PRAGMA database_list').get()?.['file']
      // A database in memory has no file.
      if (typeof file !== 'string' || file === '') return { usedBytes }
      const { bavail, bsize } = statfsSync(file)
      const untilLimit = (pragma('max_page_count') - pages) * pageSize
      return { usedBytes, freeBytes: Math.min(bavail * bsize, untilLimit) + reusable }
    },
  }
}

function toUsage(row: Row | undefined): StoredUsage {
  return {
    tasks: Number(row?.['tasks'] ?? 0),
    openTasks: Number(row?.['open_tasks'] ?? 0),
    bytes: Number(row?.['bytes'] ?? 0),
  }
}

/** What one commit has written. Names are in their stored form. */
export interface Written {
  readonly tenant: string
  readonly principal: string
  /** The bytes of its records. */
  readonly bytes: number
  readonly move: Move | undefined
}

/** A task that was created (`from` undefined) or whose row was changed. */
export interface Move {
  readonly row: BoundRow
  readonly from: State | undefined
}

/**
 * Adds what a batch of commits stores to the totals of its principals. Must be called in the
 * transaction that writes the commits.
 */
export type CountUsage = (written: readonly Written[]) => void

interface Total {
  readonly tenant: string
  readonly principal: string
  tasks: number
  open: number
  bytes: number
}

export function createCountUsage(db: Database): CountUsage {
  const add = db.prepare(
    `INSERT INTO usage (tenant, principal, tasks, open_tasks, bytes) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks,
       open_tasks = open_tasks + excluded.open_tasks, bytes = bytes + excluded.bytes`,
  )
  return (written) => {
    const totals = new Map<string, Total>()
    for (const { tenant, principal, bytes, move } of written) {
      const key = `${tenant.length} ${tenant}${principal}`
      const total = totals.get(key) ?? { tenant, principal, tasks: 0, open: 0, bytes: 0 }
      totals.set(key, total)
      total.bytes += bytes
      if (move === undefined) continue
      if (move.from === undefined) total.tasks++
      total.open += openIn(readField(move.row, 'state')) - openIn(move.from)
    }
    for (const { tenant, principal, tasks, open, bytes } of totals.values()) {
      add.run(tenant, principal, tasks, open, bytes)
    }
  }
}

function openIn(state: State | undefined): number {
  return state === undefined || isTerminal(state) ? 0 : 1
}
