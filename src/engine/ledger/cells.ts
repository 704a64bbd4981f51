/** The tasks in memory: those that are being written to, and as many others as were used last. */
import { TransientMap } from '../transient-map.ts'
import type { Cell } from './plan.ts'

export interface Cells {
  of(taskId: string): Cell
  readonly get: (taskId: string) => Cell | undefined
  delete(taskId: string): void
  /** Removes what nobody has used for longest. */
  trim(): void
  values(): ReadonlySet<Cell>
}

/** Two halves: what was used since they changed places last, and what was used before that. The older half goes as a whole. */
export function createCells(limit: number): Cells {
  const half = Math.ceil(limit / 2)
  let recent = new TransientMap<Cell>()
  let older = new TransientMap<Cell>()

  function get(taskId: string): Cell | undefined {
    return recent.get(taskId) ?? older.get(taskId)
  }

  function trim(): void {
    if (recent.size <= half) return
    turn()
    // None is to be kept.
    if (half === 0) turn()
  }

  function turn(): void {
    const gone = older
    older = recent
    recent = new TransientMap()
    for (const cell of gone.values()) {
      if (!older.has(cell.id) && !isAtRest(cell)) recent.set(cell.id, cell)
    }
  }

  return {
    of(taskId) {
      const known = recent.get(taskId)
      if (known !== undefined) return known
      const cell = older.get(taskId) ?? createCell(taskId)
      // Before it is there, so that it is not the one to go when all others are busy.
      trim()
      recent.set(taskId, cell)
      return cell
    },
    get,
    delete(taskId) {
      recent.delete(taskId)
      older.delete(taskId)
    },
    trim,
    values: () => new Set([...older.values(), ...recent.values()]),
  }
}

function createCell(id: string): Cell {
  return {
    id,
    task: undefined,
    row: undefined,
    snapshotSeq: 0,
    loading: undefined,
    loaded: false,
    queue: [],
    ahead: undefined,
    begunIn: 0,
    ripe: false,
    dirty: false,
    writing: false,
    unborn: false,
  }
}

export function isAtRest({ queue, writing, ahead, loading }: Cell): boolean {
  return queue.length === 0 && !writing && ahead === undefined && loading === undefined
}
