/** The tasks in memory: those that are being written to, and as many others as were used last. */
import type { Cell } from './plan.ts'

export interface Cells {
  of(taskId: string): Cell
  readonly get: (taskId: string) => Cell | undefined
  delete(taskId: string): void
  /** Removes what nobody has used for longest. */
  trim(): void
  atRest(): readonly Cell[]
}

/** How many come up for removal at a time: more than come in, and few enough not to be felt. */
const LOOKED_AT = 4

export function createCells(limit: number): Cells {
  const cells = new Map<string, Cell>()

  function trim(): void {
    if (cells.size <= limit) return
    let looked = 0
    for (const cell of cells.values()) {
      if (cells.size <= limit || looked++ === LOOKED_AT) return
      cells.delete(cell.id)
      if (!cell.used && isAtRest(cell)) continue
      cell.used = false
      cells.set(cell.id, cell)
    }
  }

  return {
    of(taskId) {
      const known = cells.get(taskId)
      if (known !== undefined) {
        known.used = true
        return known
      }
      const cell: Cell = {
        id: taskId,
        task: undefined,
        row: undefined,
        snapshotSeq: 0,
        loading: undefined,
        loaded: false,
        queue: [],
        ahead: undefined,
        writing: false,
        used: false,
      }
      // Before it is there, so that it is not the one to go when all others are busy.
      trim()
      cells.set(taskId, cell)
      return cell
    },
    get: (taskId) => cells.get(taskId),
    delete: (taskId) => {
      cells.delete(taskId)
    },
    trim,
    atRest: () => [...cells.values()].filter(isAtRest),
  }
}

function isAtRest({ queue, writing, ahead, loading }: Cell): boolean {
  return queue.length === 0 && !writing && ahead === undefined && loading === undefined
}
