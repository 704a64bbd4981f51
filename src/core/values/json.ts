/** A value that survives `JSON.parse(JSON.stringify(value))` unchanged. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/**
 * JSON as callers and agents pass it in. Unlike `Json`, it accepts interfaces. The compiler rejects
 * values that JSON would change, such as a `Date`, at the top level; nested ones are rejected at
 * run time.
 */
export type JsonInput = Json | readonly JsonInput[] | JsonInputObject

export type JsonInputObject =
  | JsonObject
  | (object & { readonly [K in 'toISOString' | 'then' | 'call' | 'forEach' | 'exec']?: never })

/**
 * Turns an interface into a type alias. The compiler accepts an alias as `Json` if every member is
 * JSON, but never an interface.
 */
export type MembersOf<T> = { readonly [K in keyof T]: T[K] }

/**
 * A copy without null members, at any depth. Null elements of lists are kept, because removing them
 * would move the others.
 */
export function withoutNulls(value: JsonObject): JsonObject {
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, inner(member)]))
}

function inner(value: Json): Json {
  if (Array.isArray(value)) return value.map(inner)
  return typeof value === 'object' && value !== null ? withoutNulls(value as JsonObject) : value
}

/**
 * Whether the value is an object literal, also one from another realm, and not an instance of a
 * class.
 */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Whether both values have the same JSON, ignoring the order of members. Members that are
 * `undefined` count as absent. No JSON text is built, so that comparing large values is cheap.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((one, index) => isSameJson(one ?? null, b[index] ?? null))
    )
  }
  const left = members(a)
  const right = new Map(members(b))
  return left.length === right.size && left.every(([name, one]) => isSameJson(one, right.get(name)))
}

function members(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, member]) => member !== undefined)
}
