/**
 * Answers health checks while the engine starts. A start may have a long backlog to process, and a
 * supervisor asks for health meanwhile. Other requests wait, up to a limit.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { version } from '../settings/version.ts'
import { writeText } from './node-http.ts'
import { jsonHeaders, refusalText } from './refusals.ts'

const answers: Readonly<Record<string, { readonly status: number; readonly body: object }>> = {
  '/healthz': { status: 200, body: { status: 'starting', version } },
  '/readyz': { status: 503, body: { ready: false, starting: true } },
}

const RETRY_S = '1'

/** Answers a request, or returns false if it has to wait for the start. */
export function earlyAnswer(
  { url = '' }: IncomingMessage,
  outgoing: ServerResponse,
  mayWait: boolean,
): boolean {
  const known = answers[url.split('?')[0] ?? '']
  if (known === undefined && mayWait) return false
  if (known !== undefined) {
    writeText(outgoing, known.status, jsonHeaders, JSON.stringify(known.body))
    return true
  }
  const text = refusalText('OVERLOADED', 'The server is starting; try again shortly')
  writeText(outgoing, 503, { ...jsonHeaders, 'retry-after': RETRY_S }, text)
  return true
}
