/** Sends an external event to `/events` of a Lull server: CloudEvents 1.0, structured mode. */
import type { CloudEvent } from '../core/cloud-event.ts'
import { ClientError } from './client-error.ts'
import { type ConnectionOptions, ownFetch } from './create-client.ts'
import { refusalIn, refusalOfStatus } from './wire/error-format.ts'
import { createHttp } from './wire/http-client.ts'
import { numberIn, objectIn } from './wire/json-members.ts'

/** `duplicates`: events with a source and id that the server already had. They have no effect. */
export interface Emitted {
  readonly accepted: number
  readonly duplicates: number
}

/** @param server the address of the server, or of an agent on it */
export async function emitEvent(
  server: string,
  event: CloudEvent,
  { fetch = ownFetch, headers: given }: ConnectionOptions = {},
): Promise<Emitted> {
  const url = `${server.replace(/\/+$/, '').replace(/\/agents\/[^/]+$/, '')}/events`
  const http = createHttp(fetch, given)
  const headers = { 'content-type': 'application/cloudevents+json', accept: 'application/json' }
  const body = JSON.stringify({ specversion: '1.0', ...event })
  const response = await http.send({ url, method: 'POST', headers, body })
  const answer = parsed(await http.textOf(url, response))
  const [accepted, duplicates] = [numberIn(answer, 'accepted'), numberIn(answer, 'duplicates')]
  if (accepted !== undefined && duplicates !== undefined) return { accepted, duplicates }
  const error = objectIn(answer, 'error')
  if (error !== undefined) throw refusalIn(error, response.status)
  throw refusalOfStatus(response.status) ?? notOurs(url, response.status)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function notOurs(url: string, status: number): ClientError {
  const message = `${url} takes no events (HTTP ${status}); give the address of a Lull server`
  return new ClientError('unreachable', message, { reason: 'NOT_LULL', status })
}
