/**
 * Adds what a batch of commits stores to the totals of its principals. Removed rows are subtracted
 * by triggers.
 */
import { isTerminal, type State } from '../../../core/states.ts'
import type { Database } from '../files/driver.ts'
import { type BoundRow, readField } from './task-columns.ts'

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

/** Must be called in the transaction that writes the commits. */
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
