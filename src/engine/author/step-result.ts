/**
 * A step may return a value that JSON keeps unchanged, because a rebuilt run gets it from the
 * journal. The types reject other values at compile time where possible. `checkedResult` rejects
 * the rest after the step has run.
 *
 * JSON drops members that are `undefined` and turns -0 into 0. Both are allowed, because reading them gives equal
 * values.
 */
import { LullError } from '../../core/errors.ts'
import { isPlainObject, type Json } from '../../core/values/json.ts'

/** `T` with `never` in place of every part that JSON would change. */
export type StepResult<T> = unknown extends T
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: a step that returns nothing is welcome
    T extends Json | undefined | void
    ? T
    : T extends bigint | symbol | ((...given: never[]) => unknown) | ChangedByJson
      ? never
      : T extends readonly unknown[]
        ? // JSON has no `undefined` in a list.
          {
            readonly [K in keyof T]: unknown extends T[K]
              ? T[K]
              : undefined extends T[K]
                ? never
                : StepResult<T[K]>
          }
        : { readonly [K in keyof T]: StepResult<T[K]> }

/** Types whose values a JSON round trip changes. */
export type ChangedByJson =
  | { toISOString(): string }
  | RegExp
  | Error
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBuffer
  | ArrayBufferView
  | Promise<unknown>

/**
 * `unknown` if JSON keeps `T` unchanged. Otherwise a type that no function returns, so that the
 * compiler shows which part is wrong.
 */
export type JsonSerializable<T> = [T] extends [StepResult<T>]
  ? unknown
  : NotJsonSerializable<StepResult<T>>

export interface NotJsonSerializable<T> {
  /** The result with `never` in place of what JSON would change. */
  readonly 'the result of a step must be JSON': T
}

interface Refused {
  readonly path: string
  readonly problem: string
}

/**
 * Returns a step's result after a JSON round trip, so that the first run sees the same value as a rebuilt one.
 * @param streamed the bytes of the step's streams, which are recorded with the result
 * @throws LullError `STEP_RESULT`
 */
export function checkedResult(
  step: string,
  value: unknown,
  limit: number,
  streamed = 0,
): Json | undefined {
  if (value === undefined) return undefined
  const refused = firstRefused(value, 'result', [])
  if (refused !== undefined) {
    const { path, problem } = refused
    throw new LullError('STEP_RESULT', { step, path, problem: `${path} ${problem}` })
  }
  const text = JSON.stringify(value)
  // A UTF-16 unit takes at most three bytes in UTF-8, so most texts need no exact count.
  const bytes = streamed + (3 * text.length + streamed > limit ? Buffer.byteLength(text) : 0)
  if (bytes > limit) {
    const what = streamed === 0 ? 'result has' : 'result and its streams have'
    const problem = `its ${what} ${bytes} bytes, more than ${limit}; store it elsewhere and return where`
    throw new LullError('STEP_RESULT', { step, problem })
  }
  return JSON.parse(text) as Json
}

/** Describes in a sentence what JSON would change in the value. Undefined: nothing. */
export function notJson(value: unknown, path: string): string | undefined {
  const refused = value === undefined ? undefined : firstRefused(value, path, [])
  return refused && `${refused.path} ${refused.problem}`
}

/** @param above the objects that contain the value; the value itself among them is a cycle */
function firstRefused(value: unknown, path: string, above: readonly object[]): Refused | undefined {
  if (typeof value !== 'object' || value === null) {
    const problem = primitives[typeof value]?.(value)
    return problem === undefined ? undefined : { path, problem }
  }
  if (above.includes(value))
    return { path, problem: 'is part of itself; return what you need of it' }
  if (above.length >= DEEPEST) return { path, problem: `is nested more than ${DEEPEST} deep` }
  const inside = [...above, value]
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index]
      const at = `${path}.${index}`
      if (item === undefined) return { path: at, problem: 'is undefined in a list; return null' }
      const refused = firstRefused(item, at, inside)
      if (refused !== undefined) return refused
    }
    return undefined
  }
  if (!isPlainObject(value)) return { path, problem: instanceProblem(value) }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const refused = firstRefused(member, `${path}.${name}`, inside)
    if (refused !== undefined) return refused
  }
  return undefined
}

const DEEPEST = 200

const primitives: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  number: (value) =>
    Number.isFinite(value) ? undefined : `is ${value}, which JSON has no number for; return null`,
  bigint: () => 'is a bigint; return it as text',
  symbol: () => 'is a symbol; leave it out',
  function: () => 'is a function; leave it out',
}

const advice: Readonly<Record<string, string>> = {
  Date: 'return date.toISOString()',
  Map: 'return Object.fromEntries(map), or [...map]',
  Set: 'return [...set]',
  Buffer: "return buffer.toString('base64')",
  Uint8Array: 'return it as base64 text',
  Error: 'throw it, or return its message',
  Promise: 'await it',
}

function instanceProblem(value: object): string {
  const { constructor: made } = value as { readonly constructor?: unknown }
  const name = typeof made === 'function' && made.name !== '' ? made.name : 'a class'
  const what = advice[name] ?? 'return a plain object with the members you need'
  return `is an instance of ${name} and would come back as something else; ${what}`
}
