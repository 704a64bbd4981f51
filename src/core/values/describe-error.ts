/**
 * Describes any thrown value: an error, an HTTP response, a circular object, a proxy that throws, a
 * symbol, or undefined.
 *
 * E1  Never throws, whatever the value does when it is inspected.
 * E2  The result is plain JSON of bounded size, so it can be recorded, logged and sent.
 */
import { isLullError } from '../errors.ts'
import type { Failure } from '../records.ts'
import type { Json } from './json.ts'

const MESSAGE_LENGTH = 8_192
const STACK_LENGTH = 16_384
const NAME_LENGTH = 128
const DETAILS_LENGTH = 16_384

export function describeError(error: unknown): Failure {
  const ofError = attempt(() => (error instanceof Error ? describeInstance(error) : undefined))
  return ofError ?? attempt(() => describeOther(error)) ?? indescribable(error)
}

function describeInstance(error: Error): Failure {
  const name = memberText(error, 'name', NAME_LENGTH) ?? 'Error'
  const stack = memberText(error, 'stack', STACK_LENGTH)
  const code = memberText(error, 'code', NAME_LENGTH)
  const details = attempt(() => (isLullError(error) ? plain(error.details) : undefined))
  return {
    name,
    message: memberText(error, 'message', MESSAGE_LENGTH) ?? '',
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
    ...(details === undefined ? {} : { details }),
  }
}

function describeOther(value: unknown): Failure {
  if (typeof value !== 'object' || value === null) {
    return { name: 'Error', message: clip(primitiveText(value), MESSAGE_LENGTH) }
  }
  const name = memberText(value, 'name', NAME_LENGTH) ?? 'Error'
  const message = memberText(value, 'message', MESSAGE_LENGTH) || responseText(value)
  if (message !== undefined) return { name, message }
  const json = attempt(() => JSON.stringify(value))
  const what = json === undefined ? 'an object that is not JSON' : `an object: ${json}`
  return { name, message: clip(`threw ${what}`, MESSAGE_LENGTH) }
}

function primitiveText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'threw an empty text' : value
  if (typeof value === 'function') return 'threw a function'
  if (value === undefined || value === null) return `threw ${value}`
  return String(value)
}

/** Describes a `Response` of `fetch`, which agents often throw. */
function responseText(value: object): string | undefined {
  const status = attempt<unknown>(() => Reflect.get(value, 'status'))
  const statusText = memberText(value, 'statusText', MESSAGE_LENGTH)
  if (typeof status !== 'number' || statusText === undefined) return undefined
  const url = memberText(value, 'url', MESSAGE_LENGTH)
  return `HTTP ${status}${statusText === '' ? '' : ` ${statusText}`}${url ? ` from ${url}` : ''}`
}

function indescribable(value: unknown): Failure {
  return { name: 'Error', message: `threw a value of type ${typeof value} that cannot be read` }
}

/** The member if it is a string. Reading it may throw. */
function memberText(value: object, member: string, length: number): string | undefined {
  const found = attempt<unknown>(() => Reflect.get(value, member))
  return typeof found === 'string' ? clip(found, length) : undefined
}

/** The value after a JSON round trip, or undefined if JSON cannot express it. */
function plain(value: unknown): Json | undefined {
  const text = JSON.stringify(value)
  return text === undefined || text.length > DETAILS_LENGTH ? undefined : JSON.parse(text)
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
