/**
 * JSON from callers and agents, checked and copied by hand. A recursive zod schema tracks every object that it visits,
 * to find cycles. For messages that tracking took most of the time of a parse.
 */
import { z } from 'zod'
import { isPlainObject, type Json } from '../../core/values/json.ts'

export const json: z.ZodType<Json> = z.unknown().check((payload) => {
  const path: PropertyKey[] = []
  const copy = copied(payload.value, path)
  if (copy !== undefined) payload.value = copy
  else {
    const { value: input, issues } = payload
    const message = input === undefined ? 'is required' : 'must be JSON'
    issues.push({ code: 'custom', path, input, message })
  }
}) as z.ZodType<Json>

/** Undefined when the value is not JSON; `path` is then its place. A cycle overflows the stack, see `parse.ts`. */
function copied(value: unknown, path: PropertyKey[]): Json | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) return copiedList(value, path)
  return isPlainObject(value) ? copiedObject(value, path) : undefined
}

function copiedList(list: readonly unknown[], path: PropertyKey[]): Json | undefined {
  const copy: Json[] = []
  for (const [index, item] of list.entries()) {
    const json = copied(item, path)
    if (json === undefined) return void path.unshift(index)
    copy.push(json)
  }
  return copy
}

function copiedObject(object: object, path: PropertyKey[]): Json | undefined {
  const copy: Record<string, Json> = {}
  for (const [name, member] of Object.entries(object)) {
    if (name === '__proto__') continue
    const json = copied(member, path)
    if (json === undefined) return void path.unshift(name)
    copy[name] = json
  }
  return copy
}
