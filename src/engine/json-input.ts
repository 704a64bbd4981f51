/**
 * JSON from callers and agents, checked and copied by hand. A schema for it would contain itself, and zod follows every
 * object of every parse of all that such a schema is part of, in case they form a circle: with messages made of words,
 * that is most of the work.
 */
import { z } from 'zod'
import type { Json } from '../core/json.ts'

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

/** Undefined when it is not JSON; `path` then says where. A circle ends as a nesting that is too deep. */
function copied(value: unknown, path: PropertyKey[]): Json | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) return copiedList(value, path)
  return isPlain(value) ? copiedObject(value, path) : undefined
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

/** Made as a literal, of whichever realm, and not by a class. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
