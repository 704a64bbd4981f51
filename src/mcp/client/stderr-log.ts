/**
 * Logs what an MCP server prints on stderr, line by line. The number of lines is limited, so
 * endless output is cheap.
 */
export interface StderrLog {
  add(text: string): void
  /** The last lines, for the report when the server ends. */
  last(): readonly string[]
}

const LINE_LENGTH = 1_000
const LOGGED_LINES = 1_000
const KEPT_LINES = 10

/** @param write called for the first 1,000 lines, each cut to 1,000 characters */
export function createStderrLog(write: (line: string) => void): StderrLog {
  const last: string[] = []
  let begun = ''
  let lines = 0

  function end(): void {
    lines++
    last.push(begun)
    if (last.length > KEPT_LINES) last.shift()
    if (lines < LOGGED_LINES) write(begun)
    if (lines === LOGGED_LINES) write('(further lines are not logged)')
    begun = ''
  }

  return {
    add(text) {
      for (const [at, piece] of text.split('\n').entries()) {
        if (at > 0) end()
        begun = (begun + piece).slice(0, LINE_LENGTH)
      }
    },
    last: () => (begun === '' ? last : [...last, begun]),
  }
}
