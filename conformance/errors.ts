/** The error tables: A2A v1.0 §5.4 (1.0.0 and 1.0.1), JSON-RPC 2.0 §5.1, and the codes of the Lull extensions. */
import type { Profile } from './model.ts'

interface ErrorRow {
  readonly code: number
  readonly http: Readonly<Record<Profile, number>>
  readonly reason?: string
}

export type ErrorName =
  | 'TaskNotFound'
  | 'TaskNotCancelable'
  | 'PushNotificationNotSupported'
  | 'UnsupportedOperation'
  | 'ContentTypeNotSupported'
  | 'InvalidAgentResponse'
  | 'ExtendedAgentCardNotConfigured'
  | 'ExtensionSupportRequired'
  | 'VersionNotSupported'
  | 'ParseError'
  | 'InvalidRequest'
  | 'MethodNotFound'
  | 'InvalidParams'
  | 'NotPausable'
  | 'NotPaused'
  | 'Terminal'
  | 'HandleMismatch'

function row(code: number, http: number | readonly [number, number], reason?: string): ErrorRow {
  const [before, now] = typeof http === 'number' ? [http, http] : http
  return { code, http: { '1.0.0': before, '1.0.1': now }, ...(reason ? { reason } : {}) }
}

export const ERRORS: Readonly<Record<ErrorName, ErrorRow>> = {
  TaskNotFound: row(-32001, 404, 'TASK_NOT_FOUND'),
  TaskNotCancelable: row(-32002, [409, 400], 'TASK_NOT_CANCELABLE'),
  PushNotificationNotSupported: row(-32003, 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'),
  UnsupportedOperation: row(-32004, 400, 'UNSUPPORTED_OPERATION'),
  ContentTypeNotSupported: row(-32005, [415, 400], 'CONTENT_TYPE_NOT_SUPPORTED'),
  InvalidAgentResponse: row(-32006, [502, 500], 'INVALID_AGENT_RESPONSE'),
  ExtendedAgentCardNotConfigured: row(-32007, 400, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'),
  ExtensionSupportRequired: row(-32008, 400, 'EXTENSION_SUPPORT_REQUIRED'),
  VersionNotSupported: row(-32009, 400, 'VERSION_NOT_SUPPORTED'),
  ParseError: row(-32700, 400),
  InvalidRequest: row(-32600, 400),
  MethodNotFound: row(-32601, 404),
  InvalidParams: row(-32602, 400),
  NotPausable: row(-32011, 400, 'TASK_NOT_PAUSABLE'),
  NotPaused: row(-32011, 400, 'TASK_NOT_PAUSED'),
  Terminal: row(-32011, 400, 'TASK_TERMINAL'),
  HandleMismatch: row(-32012, 409, 'RESUME_HANDLE_MISMATCH'),
}

export const A2A_DOMAIN = 'a2a-protocol.org'
