/** Builds the HTTP answers of both bindings. Constant headers are created only once. */
import { eventStreamHeaders, type FrameSource } from '../../../http/event-stream.ts'
import type { HttpAnswer, HttpHeaders } from '../../../http/http.ts'

export const JSON_TYPE = 'application/json'
const plain: HttpHeaders = { 'content-type': JSON_TYPE }

export const noHeaders: HttpHeaders = {}

export function jsonAnswer(
  body: string,
  headers: HttpHeaders = noHeaders,
  status = 200,
  type: string = JSON_TYPE,
): HttpAnswer {
  if (headers === noHeaders && type === JSON_TYPE) return { status, headers: plain, body }
  return { status, headers: { 'content-type': type, ...headers }, body }
}

export function eventsAnswer(body: string | FrameSource, headers: HttpHeaders): HttpAnswer {
  if (headers === noHeaders) return { status: 200, headers: eventStreamHeaders, body }
  return { status: 200, headers: { ...eventStreamHeaders, ...headers }, body }
}
