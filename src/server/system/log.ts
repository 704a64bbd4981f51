import { pino } from 'pino'
import { isLullError } from '../../core/errors.ts'
import { describeError } from '../../core/values/describe-error.ts'
import { printable } from '../../core/values/printable.ts'
import type { Log, LogLevel } from '../../ports/log.ts'

/**
 * Writes one line of JSON per call, whatever the fields contain. Unexpected errors are written with
 * their stack, which callers never see.
 */
export function createLog(write: (line: string) => void, level: LogLevel = 'info'): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'text',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => write(printable(withoutSecrets(line.trimEnd()))) },
  )
  return (at, text, fields = {}) => {
    if (!logger.isLevelEnabled(at)) return
    const plain = Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, readable(key, value)]),
    )
    logger[at](plain, text)
  }
}

/**
 * Patterns of credentials. Errors of libraries may quote a request, so matches are replaced before
 * writing.
 */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/lull_([0-9a-f]{16})_[\w-]{43}/g, 'lull_$1_[redacted]'],
  [/\b(bearer|basic)( |%20)+[\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/(:\/\/[^\s:/@"]*):[^\s@/"]+@/g, '$1:[redacted]@'],
]

/**
 * Matches words that may be JSON Web Tokens. A single expression for a token would take quadratic
 * time.
 */
const words = /[\w.-]{20,}/g

function withoutToken(word: string): string {
  const start = word.indexOf('eyJ')
  const isToken = start !== -1 && word.slice(start).split('.', 3).length === 3
  return isToken ? `${word.slice(0, start)}[redacted]` : word
}

function withoutSecrets(line: string): string {
  const start = line.replace(words, withoutToken)
  return secrets.reduce((text, [pattern, instead]) => text.replace(pattern, instead), start)
}

/** The most characters of one field, because errors of agents may quote whole requests. */
const LONGEST = 16_384

function readable(key: string, value: unknown): unknown {
  try {
    if (key === 'error' || value instanceof Error) return clipped(errorText(value))
    if (typeof value === 'string') return clipped(value)
    // A value that JSON cannot write is described: a cycle, a bigint, an object with a getter that
    // throws.
    const text = JSON.stringify(value)
    if (text === undefined) return value
    return text.length > LONGEST ? clipped(text) : JSON.parse(text)
  } catch {
    return clipped(errorText(value))
  }
}

function clipped(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

/** The text of an error. A `LullError` has no stack in it, because its message is sufficient. */
function errorText(error: unknown): string {
  if (isLullError(error)) return `${error.code}: ${error.message}`
  const { name, message, stack } = describeError(error)
  return stack ?? (name === 'Error' ? message : `${name}: ${message}`)
}
