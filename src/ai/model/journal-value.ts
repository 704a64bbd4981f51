/**
 * Values of a model's answer as JSON, and back. Files are bytes, and times are dates. JSON has neither, so they are
 * recorded as objects with the one member `$lull:bytes`, `$lull:date` or `$lull:url`.
 */
import type { Json } from '../../core/json.ts'

const BYTES = '$lull:bytes'
const DATE = '$lull:date'
const URL_TEXT = '$lull:url'

export function toJournal(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return null
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString('base64') }
  if (value instanceof Date) return { [DATE]: value.toISOString() }
  if (value instanceof URL) return { [URL_TEXT]: value.href }
  if (Array.isArray(value)) return value.map(toJournal)
  const members = Object.entries(value).filter(([, member]) => isKept(member))
  return Object.fromEntries(members.map(([name, member]) => [name, toJournal(member)]))
}

export function fromJournal(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(fromJournal)
  const members = Object.entries(value)
  const [only, ...more] = members
  if (only !== undefined && more.length === 0) {
    const [name, member] = only
    const revive = revived[name]
    if (revive !== undefined && typeof member === 'string') return revive(member)
  }
  return Object.fromEntries(members.map(([name, member]) => [name, fromJournal(member)]))
}

const revived: Readonly<Record<string, (text: string) => unknown>> = {
  [BYTES]: (text) => new Uint8Array(Buffer.from(text, 'base64')),
  [DATE]: (text) => new Date(text),
  [URL_TEXT]: (text) => new URL(text),
}

function isKept(member: unknown): boolean {
  return member !== undefined && typeof member !== 'function' && typeof member !== 'symbol'
}
