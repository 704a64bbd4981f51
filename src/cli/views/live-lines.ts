/** Redraws live lines while work goes on: soon after each change, and every second because the lines show elapsed times. */
import type { Io } from '../command.ts'

const TICK_MS = 1_000
/** The changes within this time are drawn together. */
const SOON_MS = 50

export type Size = NonNullable<ReturnType<Io['size']>>

/** Draws nothing without a terminal. @param work receives a function that requests a redraw */
export async function drawWhile<T>(
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
