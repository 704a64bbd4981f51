import { isLullError } from '../../core/errors.ts'
import type { Log, LogLevel } from '../../ports/log.ts'

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** One line of JSON per report. Unexpected errors are written with their stack; callers never see it. */
export function createLog(write: (line: string) => void, level: LogLevel = 'info'): Log {
  return (at, text, facts = {}) => {
    if (rank[at] < rank[level]) return
    const plain = Object.fromEntries(
      Object.entries(facts).map(([key, value]) => [key, readable(value)]),
    )
    write(JSON.stringify({ time: new Date().toISOString(), level: at, text, ...plain }))
  }
}

function readable(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  // Our own errors say all there is in a sentence.
  return isLullError(value) ? `${value.code}: ${value.message}` : (value.stack ?? value.message)
}
