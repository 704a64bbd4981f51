/** Reading and filling plain JSON values by path. */
import { randomUUID } from 'node:crypto'

export type Obj = { readonly [k: string]: unknown }

export function isObject(value: unknown): value is Obj {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `at(x, 'task.history.0.role')`; undefined when any part is missing. `-1` is the last element. */
export function at(value: unknown, path: string): unknown {
  let here = value
  for (const key of path.split('.')) {
    if (Array.isArray(here)) here = here.at(Number(key))
    else if (isObject(here)) here = here[key]
    else return undefined
  }
  return here
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

const WHOLE = /^\$([a-z]\w*(?:\.[\w:-]+)+)$/i
const INSIDE = /\{([a-z]\w*(?:\.[\w-]+)+)\}/gi

/**
 * Fills captures: a string that is exactly `$first.task.id` becomes that value; `{first.task.id}` inside a string becomes
 * its text; `{new.id}` becomes a fresh id each time.
 */
export function fill(value: unknown, vars: Obj): unknown {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value)
    if (whole) return at(vars, whole[1] ?? '')
    return value.replace(INSIDE, (_, path: string) =>
      path === 'new.id' ? randomUUID() : String(at(vars, path)),
    )
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, vars))
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v, vars)]))
  }
  return value
}

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Structural equality of JSON values; key order does not matter. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((k) => k in b && equal(a[k], b[k]))
}
