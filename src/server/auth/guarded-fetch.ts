/** Requests to an issuer of identities: small documents, over HTTPS, from a public address. */
import { request as http } from 'node:http'
import { request as https } from 'node:https'
import { guardedLookup, refusedTarget } from '../../protocols/a2a/push/targets.ts'

export interface GuardedRequest {
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

export type GuardedFetch = (address: string, request?: GuardedRequest) => Promise<Response>

const TIMEOUT_MS = 5_000
const LARGEST = 262_144

/**
 * As for webhooks, the address is checked when the connection is made. HTTP is allowed only
 * together with private addresses. Redirects are not followed.
 *
 * @param timeoutMs within which the whole document must have come
 */
export function guardedFetch(allowPrivate: boolean, timeoutMs: number = TIMEOUT_MS): GuardedFetch {
  return (address, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(address)
      const refused = refusedTarget(url, allowPrivate)
      if (refused !== undefined) return reject(new Error(refused))
      if (url.protocol !== 'https:' && !allowPrivate) {
        return reject(new Error(`${address} must be an https address`))
      }
      const request = (url.protocol === 'https:' ? https : http)(url, {
        method,
        headers: { accept: 'application/json', ...headers },
        signal: AbortSignal.timeout(timeoutMs),
        ...(allowPrivate ? {} : { lookup: guardedLookup }),
      })
      request.on('error', reject)
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          chunks.push(chunk)
          if (size > LARGEST) response.destroy(new Error(`${address} is too large`))
        })
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode: status = 500, headers: given } = response
          const type = given['content-type']
          const known = type === undefined ? {} : { 'content-type': type }
          resolve(new Response(Buffer.concat(chunks), { status, headers: known }))
        })
      })
      request.end(body)
    })
}
