/**
 * Reads single parameters without a schema. `null` means absent, as in ProtoJSON. Messages,
 * conditions and reminders are passed on unchecked, because the engine parses them.
 */
import { LullError } from '../../../core/errors.ts'
import type { Json, JsonObject } from '../../../core/values/json.ts'

export type Params = Readonly<Record<string, unknown>>

export function invalid(path: string, problem: string): LullError {
  return new LullError('INVALID_INPUT', { path, problem })
}

/**
 * The longest accepted id of a task or webhook. It is bounded because error messages contain ids.
 */
const LONGEST_ID = 256
/** The longest of any other text: instants, names of states, cursors. */
const LONGEST_TEXT = 4_096

/** A required id. */
export function text(params: Params, name: string): string {
  const value = optionalText(params, name)
  if (value === undefined || value === '') throw invalid(name, 'is required')
  if (value.length > LONGEST_ID) throw invalid(name, `must have a length of at most ${LONGEST_ID}`)
  return value
}

export function optionalText(
  params: Params,
  name: string,
  path: string = name,
): string | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(path, 'must be a string')
  if (value.length > LONGEST_TEXT) {
    throw invalid(path, `must have a length of at most ${LONGEST_TEXT}`)
  }
  return value
}

/** Rejects a value that is not a list of strings, although Lull does not use the list. */
export function checkTexts(params: Params, name: string, path: string = name): void {
  const value = params[name] ?? []
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string')
  if (!isTexts) throw invalid(path, 'must be a list of strings')
}

export function optionalInteger(
  params: Params,
  name: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
  path: string = name,
): number | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    const upTo = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`
    throw invalid(path, `must be a whole number${upTo}`)
  }
  return value
}

export function optionalBoolean(
  params: Params,
  name: string,
  path: string = name,
): boolean | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false')
  return value
}

export function optionalObject(params: Params, name: string, path?: string): Params | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw invalid(path ?? name, 'must be an object')
  return value
}

export function optionalJsonObject(params: Params, name: string): JsonObject | undefined {
  // The value was parsed from JSON, so its members are JSON.
  return optionalObject(params, name) as Readonly<Record<string, Json>> | undefined
}

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
