/**
 * Converts values in a model's answer to JSON and back. Files are bytes and times are dates, which
 * JSON does not have, so they are recorded as objects with the single member `$lull:bytes`,
 * `$lull:date` or `$lull:url`. An object that looks like one of these is wrapped in an object with
 * the single member `$lull:plain`.
 */
import type { Json, JsonObject } from '../../core/values/json.ts'

const BYTES = '$lull:bytes'
const DATE = '$lull:date'
const URL_TEXT = '$lull:url'
const PLAIN = '$lull:plain'

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
  const recorded = Object.fromEntries(members.map(([name, member]) => [name, toJournal(member)]))
  return isMarked(recorded) ? { [PLAIN]: recorded } : recorded
}

/** Whether the object has a single member that marks such a value. */
function isMarked(value: JsonObject): boolean {
  const [only, ...more] = Object.keys(value)
  return only !== undefined && more.length === 0 && (only === PLAIN || Object.hasOwn(revived, only))
}

export function fromJournal(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(fromJournal)
  const object = value as JsonObject
  if (!isMarked(object)) return membersFrom(object)
  const plain = object[PLAIN]
  if (isObject(plain)) return membersFrom(plain)
  const [[name, member] = ['', null]] = Object.entries(object)
  return (typeof member === 'string' ? revived[name]?.(member) : undefined) ?? membersFrom(object)
}

function membersFrom(object: JsonObject): unknown {
  return Object.fromEntries(
    Object.entries(object).map(([name, member]) => [name, fromJournal(member)]),
  )
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Converts marked values back. Old journals may contain these members as ordinary data; a text that
 * is not such a value is returned unchanged.
 */
const revived: Readonly<Record<string, (text: string) => unknown>> = {
  [BYTES]: (text) => new Uint8Array(Buffer.from(text, 'base64')),
  [DATE]: (text) => new Date(text),
  [URL_TEXT]: (text) => (URL.canParse(text) ? new URL(text) : undefined),
}

function isKept(member: unknown): boolean {
  return member !== undefined && typeof member !== 'function' && typeof member !== 'symbol'
}
