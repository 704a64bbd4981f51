/** Attribute values in HTTP headers (CloudEvents HTTP binding 1.0.2 §3.1.3.2): quoted or not, percent-encoded UTF-8. */
import { LullError } from '../../core/errors.ts'

/** @param name of the header, for mistakes */
export function headerValue(name: string, given: string): string {
  if (!ASCII.test(given)) throw invalid(name, 'must be percent-encoded where it is not ASCII')
  const quoted = QUOTED.exec(given)?.[1]
  const text = quoted === undefined ? given : quoted.replace(/\\(.)/g, '$1')
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(name, 'must be percent-encoded UTF-8; a percent sign is written %25')
  }
}

const ASCII = /^[\x20-\x7e]*$/
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/

export function invalid(path: string, problem: string): LullError {
  return new LullError('INVALID_INPUT', { path, problem })
}
