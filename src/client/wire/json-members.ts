/** Reads JSON from peers, and members of it. A member of another type counts as absent. */
import type { Json, JsonObject } from '../../core/values/json.ts'

/** @returns undefined when the text is not JSON. No JSON text has this value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function readObject(value: unknown, name: string): JsonObject | undefined {
  const member = readMember(value, name)
  return isObject(member) ? member : undefined
}

export function readString(value: unknown, name: string): string | undefined {
  const member = readMember(value, name)
  return typeof member === 'string' ? member : undefined
}

export function readNumber(value: unknown, name: string): number | undefined {
  const member = readMember(value, name)
  return typeof member === 'number' ? member : undefined
}

export function readList(value: unknown, name: string): readonly Json[] {
  const member = readMember(value, name)
  return Array.isArray(member) ? member : []
}

export function readStrings(value: unknown, name: string): readonly string[] {
  return readList(value, name).filter((one) => typeof one === 'string')
}

/** @returns undefined when the list is absent or has no strings */
export function readSomeStrings(value: unknown, name: string): readonly string[] | undefined {
  const texts = readStrings(value, name)
  return texts.length === 0 ? undefined : texts
}

export function isTrue(value: unknown, name: string): boolean {
  return readMember(value, name) === true
}

/** @returns undefined unless the member is one of the words */
export function readOneOf<W extends string>(
  value: unknown,
  name: string,
  words: readonly W[],
): W | undefined {
  const member = readMember(value, name)
  return words.find((word) => word === member)
}

export function readMember(value: unknown, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Copies the object without the members that are undefined. */
export function omitUndefined<T extends object>(
  members: {
    readonly [K in keyof T]: T[K] | undefined
  },
): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}
