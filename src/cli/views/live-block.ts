import type { Io } from '../command.ts'

/**
 * Lines at the bottom of a terminal that are redrawn in place. The functions return text with control codes, which the
 * terminal writes.
 *
 *  B1  Each line takes one row: it is cut to the width of the terminal.
 *  B2  `erase` removes exactly the rows that `draw` wrote, even after the terminal became narrower.
 */
export interface LiveBlock {
  /** Replaces the lines. */
  set(lines: readonly string[]): void
  /** Removes the lines from the screen. The cursor is then where their first row began. */
  erase(): string
  draw(): string
}

export function createLiveBlock(columns: () => number): LiveBlock {
  let lines: readonly string[] = []
  /** The widths of the lines on the screen. */
  let drawn: readonly number[] = []
  return {
    set(next) {
      lines = next
    },
    erase() {
      if (drawn.length === 0) return ''
      // B2. A terminal that became narrower breaks the drawn lines.
      const rows = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns())), 0)
      drawn = []
      return `\r${rows > 1 ? `\u001b[${rows - 1}A` : ''}\u001b[J`
    },
    draw() {
      const cut = lines.map((line) => cutTo(line, columns() - 1))
      drawn = cut.map(({ width }) => width)
      return cut.map(({ text }) => text).join('\n')
    },
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape character
const colour = /\u001b\[\d+m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape character
const colourOrCharacter = /\u001b\[\d+m|./gsu
const SPACE = /^\s/
const WIDE = /^[\u1100-\u115f\u2e80-\ud7ff\uf900-\ufaff\ufe30-\uffe6]|\p{Emoji_Presentation}/u
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]/u

/** B1. Colour codes take no columns. All of them are kept, so that no colour stays on after the line. */
function cutTo(line: string, columns: number): { text: string; width: number } {
  let [text, width] = ['', 0]
  for (const { 0: part, index } of line.matchAll(colourOrCharacter)) {
    const own = part.startsWith('\u001b') ? 0 : widthOf(part)
    if (width + own > columns) {
      return { text: text + (line.slice(index).match(colour) ?? []).join(''), width }
    }
    // A tab or a line break would take more than its column.
    text += SPACE.test(part) ? ' ' : part
    width += own
  }
  return { text, width }
}

/** Shortens a text to its end, which takes at most `columns`. */
export function endOf(text: string, columns: number): string {
  const characters = [...text.slice(-2 * columns - 2)]
  let [width, from] = [0, characters.length]
  while (from > 0) {
    width += widthOf(characters[from - 1] ?? '')
    if (width >= columns) break
    from--
  }
  const end = characters.slice(from).join('')
  return end.length === text.length ? text : `…${end}`
}

/** The columns that a terminal uses for a character. East Asian characters and pictures count as two. */
function widthOf(character: string): number {
  if (WITHOUT_WIDTH.test(character)) return 0
  return WIDE.test(character) || (character.codePointAt(0) ?? 0) >= 0x1f000 ? 2 : 1
}

const TICK_MS = 1_000
/** The changes within this time are drawn together. */
const SOON_MS = 50

export type Size = NonNullable<ReturnType<Io['size']>>

/**
 * Draws the lines while the work runs: soon after each change, and every second because the lines
 * show elapsed times. Draws nothing without a terminal.
 * @param work receives a function that requests a redraw
 */
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
