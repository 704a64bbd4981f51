/** Reads the errors of every version and binding. */
import type { JsonObject } from '../../core/json.ts'
import { ClientError } from '../client-error.ts'
import { isObject, listIn, memberOf, objectIn, textIn } from './json-members.ts'

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

/** For an answer without a known body, perhaps of a proxy. Undefined: the status has no known meaning. */
export function refusalOfStatus(status: number): ClientError | undefined {
  const reason = reasonsOfStatus[status] ?? (status >= 500 ? 'UNAVAILABLE' : undefined)
  if (reason === undefined) return undefined
  // A proxy that failed does not know whether the agent acted.
  const kind = status >= 500 ? 'unreachable' : 'refused'
  return new ClientError(kind, `The server answered with HTTP ${status}`, { reason, status })
}

/** For an unknown task the control methods of the RFCs answer -32004, which is another error in A2A. */
export function refusalOfControl(error: JsonObject, status: number | undefined): ClientError {
  const isUnknown = memberOf(error, 'code') === -32004 && reasonIn(error) === undefined
  return refusalIn(isUnknown ? { ...error, code: -32001 } : error, status)
}

/**
 * @param error the `error` of JSON-RPC, of REST 1.0 (`{code, status, message, details}`) or of Lull's other routes
 * (where `code` is a text), or the whole body of REST 0.3
 */
export function refusalIn(error: JsonObject, status: number | undefined): ClientError {
  const given = memberOf(error, 'code')
  // In REST 1.0 `code` is the HTTP status.
  const code = typeof given === 'number' && given < 0 ? given : undefined
  const details = detailsIn(error)
  const { path } = details
  const word = typeof given === 'string' ? given : reasonIn(error)
  const byNumber = code === undefined ? undefined : reasons[code]
  const reason = word ?? byNumber ?? reasonsOfStatus[status ?? 0] ?? 'UNKNOWN'
  const message = textIn(error, 'message') ?? 'The peer gave no reason'
  return new ClientError('refused', message, {
    reason,
    code,
    status,
    path: typeof path === 'string' ? path : (textIn(error, 'path') ?? violationIn(error)),
    details,
  })
}

/** `data` in JSON-RPC, `details` in REST 1.0: in 1.0 a list of typed objects, in 0.3 an object of its own. */
function infosIn(error: JsonObject): readonly JsonObject[] {
  const data = objectIn(error, 'data')
  const list = [...listIn(error, 'data'), ...listIn(error, 'details')]
  return [...(data === undefined ? [] : [data]), ...list.filter(isObject)]
}

function reasonIn(error: JsonObject): string | undefined {
  return infosIn(error)
    .map((info) => textIn(info, 'reason'))
    .find((reason) => reason !== undefined)
}

function detailsIn(error: JsonObject): JsonObject {
  const data = objectIn(error, 'data')
  if (data !== undefined) return data
  return Object.assign({}, ...infosIn(error).map((info) => objectIn(info, 'metadata')))
}

function violationIn(error: JsonObject): string | undefined {
  return infosIn(error)
    .flatMap((info) => listIn(info, 'fieldViolations'))
    .map((violation) => textIn(violation, 'field'))
    .find((field) => field !== undefined)
}
