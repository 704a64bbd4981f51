/** One version on one binding: neutral operation to bytes, bytes to neutral outcome. */
import type { Binding, Operation, Stopped, Version, WireError } from '../model.ts'
import { at, list, type Obj } from '../values.ts'

export interface WireRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Read {
  readonly task?: unknown
  readonly message?: unknown
  readonly result?: unknown
  readonly error?: WireError
}

export interface Dialect {
  readonly version: Version
  readonly binding: Binding
  readonly stopped: Stopped
  readonly request: (operation: Operation, args: Obj, endpoint: string) => WireRequest
  readonly read: (operation: Operation, status: number, body: unknown) => Read
  /** The payload of one server-sent event. */
  readonly frame: (data: unknown) => { readonly event?: unknown; readonly error?: WireError }
}

/** Some operations answer with a bare Task, some with `{task}` or `{message}`, the others with something of their own. */
export function sortResult(operation: Operation, result: unknown): Read {
  if (operation === 'get' || operation === 'cancel') return { result, task: result }
  const task = at(result, 'task')
  const message = at(result, 'message')
  return {
    result,
    ...(task === undefined ? {} : { task }),
    ...(message === undefined ? {} : { message }),
  }
}

/** `details` is JSON-RPC's `error.data` or REST's `error.details`. */
export function wireError(code: unknown, message: unknown, details: unknown): WireError {
  const info = list(details).find((item) => at(item, 'reason') !== undefined)
  return {
    code: typeof code === 'number' ? code : undefined,
    message: typeof message === 'string' ? message : undefined,
    reason: text(at(info, 'reason') ?? at(details, 'reason')),
    domain: text(at(info, 'domain')),
    data: details,
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
