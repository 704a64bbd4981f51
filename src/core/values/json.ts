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
 * JSON that a caller or an agent gives. The compiler accepts interfaces here, which it never accepts as `Json`. It refuses
 * values that JSON would change, such as a `Date`, at the top. Deeper ones are refused when the value is checked.
 */
export type JsonInput = Json | readonly JsonInput[] | JsonInputObject

export type JsonInputObject =
  | JsonObject
  | (object & { readonly [K in 'toISOString' | 'then' | 'call' | 'forEach' | 'exec']?: never })

/**
 * The members of an interface as a type alias. The compiler accepts an alias as `Json` where every member is JSON, and
 * never accepts an interface.
 */
export type MembersOf<T> = { readonly [K in keyof T]: T[K] }

/** A copy without null members, at any depth. Elements of lists are kept: their places have a meaning. */
export function withoutNulls(value: JsonObject): JsonObject {
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, inner(member)]))
}

function inner(value: Json): Json {
  if (Array.isArray(value)) return value.map(inner)
  return typeof value === 'object' && value !== null ? withoutNulls(value as JsonObject) : value
}

/** Whether the value is an object literal, also one of another realm, and no instance of a class. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Whether JSON writes both values alike, whatever the order of their members. Members that are `undefined` count as absent.
 * Nothing is written, so large texts cost no more than comparing them.
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
