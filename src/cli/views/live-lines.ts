/** Draws live lines while something goes on: at once after a change, and every second for times that pass. */
import type { Io } from '../command.ts'

const TICK_MS = 1_000
/** Many changes in a moment are drawn once. */
const SOON_MS = 50

export type Size = NonNullable<ReturnType<Io['size']>>

/** Without a terminal nothing is drawn. @param work is given a function that draws soon */
export async function drawing<T>(
  io: Io,
  lines: (size: Size) => readonly string[],
  work: (redraw: () => void) => Promise<T>,
): Promise<T> {
  let soon: NodeJS.Timeout | undefined
  const draw = (): void => {
    soon = undefined
    const size = io.size()
    if (size !== undefined) io.live(lines(size).slice(0, size.rows - 1))
  }
  const ticking = setInterval(draw, TICK_MS)
  try {
    draw()
    return await work(() => {
      soon ??= setTimeout(draw, SOON_MS)
    })
  } finally {
    clearInterval(ticking)
    clearTimeout(soon)
    io.live([])
  }
}
