/** Reads the errors of every version and binding, and those of Lull's other routes. */
import type { JsonObject } from '../../core/values/json.ts'
import { ClientError } from '../client-error.ts'
import { isObject, readList, readMember, readObject, readString } from './json-members.ts'

/** The reason for each error code, when the peer gives no reason (A2A 1.0 §5.4, JSON-RPC). */
const reasons: Readonly<Record<number, string>> = {
  [-32700]: 'PARSE_ERROR',
  [-32600]: 'INVALID_REQUEST',
  [-32601]: 'METHOD_NOT_FOUND',
  [-32602]: 'INVALID_PARAMS',
  [-32603]: 'INTERNAL',
  [-32001]: 'TASK_NOT_FOUND',
  [-32002]: 'TASK_NOT_CANCELABLE',
  [-32003]: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  [-32004]: 'UNSUPPORTED_OPERATION',
  [-32005]: 'CONTENT_TYPE_NOT_SUPPORTED',
  [-32006]: 'INVALID_AGENT_RESPONSE',
  [-32007]: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  [-32008]: 'EXTENSION_SUPPORT_REQUIRED',
  [-32009]: 'VERSION_NOT_SUPPORTED',
  [-32011]: 'TASK_NOT_PAUSABLE',
  [-32012]: 'RESUME_HANDLE_MISMATCH',
}

/** The reason for each HTTP status, when the body gives none. */
const reasonsOfStatus: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  405: 'METHOD_NOT_FOUND',
  429: 'LIMIT_EXCEEDED',
}

/** For an answer without a body that this client knows, perhaps of a proxy. @returns undefined when the status says nothing */
export function errorOfStatus(status: number): ClientError | undefined {
  const reason = reasonsOfStatus[status] ?? (status >= 500 ? 'UNAVAILABLE' : undefined)
  if (reason === undefined) return undefined
  // After a failure of a proxy it is unknown whether the agent acted.
  const kind = status >= 500 ? 'unreachable' : 'refused'
  return new ClientError(kind, `The server answered with HTTP ${status}`, { reason, status })
}

/** For an unknown task the control methods of the RFCs answer -32004, which means something else in A2A. */
export function readControlError(error: JsonObject, status: number | undefined): ClientError {
  const isUnknown = readMember(error, 'code') === -32004 && readReason(error) === undefined
  return readError(isUnknown ? { ...error, code: -32001 } : error, status)
}

/**
 * @param error the `error` of JSON-RPC, of REST 1.0 (`{code, status, message, details}`) or of Lull's other routes
 * (where `code` is a text), or the whole body of REST 0.3
 */
export function readError(error: JsonObject, status: number | undefined): ClientError {
  const errorCode = readMember(error, 'code')
  // In REST 1.0 `code` is the HTTP status.
  const code = typeof errorCode === 'number' && errorCode < 0 ? errorCode : undefined
  const details = readDetails(error)
  const { path } = details
  const word = typeof errorCode === 'string' ? errorCode : readReason(error)
  const byNumber = code === undefined ? undefined : reasons[code]
  const reason = word ?? byNumber ?? reasonsOfStatus[status ?? 0] ?? 'UNKNOWN'
  const message = readString(error, 'message') ?? 'The peer gave no reason'
  return new ClientError('refused', message, {
    reason,
    code,
    status,
    path: typeof path === 'string' ? path : (readString(error, 'path') ?? readViolation(error)),
    details,
  })
}

/** JSON-RPC has `data`, REST 1.0 has `details`. In 1.0 it is a list of typed objects, in 0.3 one object. */
function readInfos(error: JsonObject): readonly JsonObject[] {
  const data = readObject(error, 'data')
  const list = [...readList(error, 'data'), ...readList(error, 'details')]
  return [...(data === undefined ? [] : [data]), ...list.filter(isObject)]
}

function readReason(error: JsonObject): string | undefined {
  return readInfos(error)
    .map((info) => readString(info, 'reason'))
    .find((reason) => reason !== undefined)
}

function readDetails(error: JsonObject): JsonObject {
  const data = readObject(error, 'data')
  if (data !== undefined) return data
  return Object.assign({}, ...readInfos(error).map((info) => readObject(info, 'metadata')))
}

function readViolation(error: JsonObject): string | undefined {
  return readInfos(error)
    .flatMap((info) => readList(info, 'fieldViolations'))
    .map((violation) => readString(violation, 'field'))
    .find((field) => field !== undefined)
}
