/** Reads members of JSON from peers. A member of another type counts as absent. */
import type { Json, JsonObject } from '../../core/json.ts'

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectIn(value: unknown, name: string): JsonObject | undefined {
  const found = memberOf(value, name)
  return isObject(found) ? found : undefined
}

export function textIn(value: unknown, name: string): string | undefined {
  const found = memberOf(value, name)
  return typeof found === 'string' ? found : undefined
}

export function numberIn(value: unknown, name: string): number | undefined {
  const found = memberOf(value, name)
  return typeof found === 'number' ? found : undefined
}

export function listIn(value: unknown, name: string): readonly Json[] {
  const found = memberOf(value, name)
  return Array.isArray(found) ? found : []
}

export function textsIn(value: unknown, name: string): readonly string[] {
  return listIn(value, name).filter((one) => typeof one === 'string')
}

/** Undefined where there is none. */
export function someTextsIn(value: unknown, name: string): readonly string[] | undefined {
  const texts = textsIn(value, name)
  return texts.length === 0 ? undefined : texts
}

export function isTrue(value: unknown, name: string): boolean {
  return memberOf(value, name) === true
}

/** One of the words, or nothing. */
export function wordIn<W extends string>(
  value: unknown,
  name: string,
  words: readonly W[],
): W | undefined {
  const found = memberOf(value, name)
  return words.find((word) => word === found)
}

export function memberOf(value: unknown, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Without the members that are undefined. */
export function present<T extends object>(
  facts: {
    readonly [K in keyof T]: T[K] | undefined
  },
): T {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T
}
