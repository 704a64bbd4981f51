/** Tasks whose birth is decided and not durable, and who waits for them. */
import type { Cell } from './plan.ts'

export interface Births {
  /** It can be read now, or will never be. */
  over(cell: Cell): void
  /** Resolves when that is so for each of those that are not born yet. */
  attend(cells: Iterable<Cell>): Promise<void>
}

export function createBirths(): Births {
  let attendants: { readonly unborn: Set<Cell>; readonly resolve: () => void }[] = []

  return {
    over(cell) {
      if (!cell.unborn) return
      cell.unborn = false
      if (attendants.length === 0) return
      attendants = attendants.filter(({ unborn, resolve }) => {
        unborn.delete(cell)
        if (unborn.size === 0) resolve()
        return unborn.size > 0
      })
    },
    async attend(cells) {
      const unborn = new Set<Cell>()
      for (const cell of cells) if (cell.unborn) unborn.add(cell)
      if (unborn.size > 0)
        await new Promise<void>((resolve) => attendants.push({ unborn, resolve }))
    },
  }
}
