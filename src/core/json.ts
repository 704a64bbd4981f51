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
