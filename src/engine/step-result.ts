/**
 * What a step may return: a value that comes back from the journal as it was. The types refuse other values where they can
 * tell; `checkedResult` refuses the rest when the step has run, with the path of the member that JSON would change.
 *
 * A member of an object that is `undefined` is dropped, and -0 becomes 0: reading them gives an equal value.
 */
import { LullError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'

/** `T` where JSON keeps it as it is; `never` in the place of every part that would come back as something else. */
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

/** Objects that come back from JSON as something else. */
export type ChangedByJson =
  | { toISOString(): string }
  | RegExp
  | Error
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBuffer
  | ArrayBufferView
  | Promise<unknown>

/** Anything for a function whose result can be stored. For another, a type that no function has: it says which part. */
export type JsonSerializable<T> = [T] extends [StepResult<T>]
  ? unknown
  : NotJsonSerializable<StepResult<T>>

export interface NotJsonSerializable<T> {
  /** The result with `never` in the place of what JSON would change. */
  readonly 'the result of a step must be JSON': T
}

interface Refused {
  readonly path: string
  readonly problem: string
}

/**
 * The JSON round trip of a step's result, which the agent gets the first time too.
 * @param streamed the bytes that are recorded with it
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
  // A character takes at most three bytes.
  const bytes = streamed + (3 * text.length + streamed > limit ? Buffer.byteLength(text) : 0)
  if (bytes > limit) {
    const what = streamed === 0 ? 'result has' : 'result and its streams have'
    const problem = `its ${what} ${bytes} bytes, more than ${limit}; store it elsewhere and return where`
    throw new LullError('STEP_RESULT', { step, problem })
  }
  return JSON.parse(text) as Json
}

/** @param above the objects the value lies in: one of them again is a circle */
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
  if (!isPlain(value)) return { path, problem: instanceProblem(value) }
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

/** Objects of other realms are plain too: their prototype is the end of the chain as well. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
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
