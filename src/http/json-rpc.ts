/** JSON-RPC 2.0 framing for clients and servers. It knows no methods. */

export type RpcId = string | number | null

export interface RpcRequest {
  readonly id: RpcId
  readonly method: string
  /** An object, or absent. */
  readonly params: Readonly<Record<string, unknown>> | undefined
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** The codes every JSON-RPC peer knows (JSON-RPC 2.0 §5.1). */
export const rpcCodes: {
  readonly parse: -32700
  readonly request: -32600
  readonly method: -32601
  readonly params: -32602
  readonly internal: -32603
} = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 }

export type ParsedRequest =
  | { readonly request: RpcRequest; readonly error?: undefined }
  | { readonly id: RpcId; readonly error: RpcError }

/**
 * Reads one request from parsed JSON. Batches are refused, because A2A has none. A request without an id is answered with
 * the id null: no method is a notification, and the official kit for 0.3 omits the id and expects an answer.
 */
export function parseRequest(value: unknown): ParsedRequest {
  if (Array.isArray(value)) return refused(null, 'Batches are not supported: send one request')
  if (!isObject(value)) return refused(null, 'A request is a JSON object')
  const { jsonrpc, method, id, params } = value
  const known = isId(id) ? id : null
  if (jsonrpc !== '2.0') return refused(known, 'jsonrpc must be "2.0"')
  if (id !== undefined && !isId(id)) return refused(null, 'id must be a string, a number or null')
  if (typeof method !== 'string' || method === '') return refused(known, 'method must be a string')
  if (params !== undefined && !isObject(params)) {
    return { id: known, error: { code: rpcCodes.params, message: 'params must be an object' } }
  }
  return { request: { id: known, method, params } }
}

function refused(id: RpcId, message: string): ParsedRequest {
  return { id, error: { code: rpcCodes.request, message } }
}

/** Wraps results, given as JSON text, in answers to this id. It keeps no other part of the request in memory. */
export function envelopeOf(id: RpcId): (result: string) => string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
  return (result) => `${head}${result}}`
}

export function errorText(id: RpcId, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error)}}`
}

export function notificationText(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

function isId(value: unknown): value is RpcId {
  return (
    value === null ||
    typeof value === 'string' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
