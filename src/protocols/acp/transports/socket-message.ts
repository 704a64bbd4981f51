/** Parses one message of a WebSocket, as far as the transport has to understand it. */
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { isTooCostly } from '../../../http/strict-json.ts'

export type SocketMessage =
  | { readonly kind: 'request'; readonly id: string; readonly method: string; message: AnyMessage }
  /** A notification or an answer, which needs no reply. */
  | { readonly kind: 'other'; message: AnyMessage }
  | { readonly kind: 'invalid'; readonly code: number; readonly problem: string }
  /** Parsing it would block the event loop. */
  | { readonly kind: 'too-costly' }

const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
const LONGEST_ID = 1_024

export function readMessage(text: string): SocketMessage {
  if (isTooCostly(text)) return { kind: 'too-costly' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'invalid', code: PARSE_ERROR, problem: 'Parse error' }
  }
  if (Array.isArray(value)) return invalid('JSON-RPC batches are not supported')
  if (typeof value !== 'object' || value === null) return invalid('Invalid request')
  const message = value as AnyMessage
  const { id, method } = value as { readonly id?: unknown; readonly method?: unknown }
  if (typeof method !== 'string' || id === undefined) return { kind: 'other', message }
  if (!isId(id)) return invalid('The id must be an integer, or a text of at most 1,024 characters')
  return { kind: 'request', id: keyOfId(id), method, message }
}

function invalid(problem: string): SocketMessage {
  return { kind: 'invalid', code: INVALID_REQUEST, problem }
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' ? id.length <= LONGEST_ID : Number.isSafeInteger(id)
}

/** A request id as a key. The ids 1 and "1" are different. */
export function keyOfId(id: unknown): string {
  return JSON.stringify(id)
}

const decoder = new TextDecoder()

/** The message as text. Undefined if it is not text. */
export function textOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  return data instanceof Uint8Array ? decoder.decode(data) : undefined
}
