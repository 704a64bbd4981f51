/** Answers requests below the path of an embedded engine: A2A and events. */
import type { Caller } from '../../engine/caller.ts'
import { ownTaskScopes } from '../../protocols/a2a/index.ts'
import { readEvents } from '../../protocols/cloud-events/read-events.ts'
import { createGuard, isLoopback } from '../guard.ts'
import { notFound, refusal, refusalOf } from '../refusals.ts'
import type { EmbedOptions } from './embed.ts'
import type { Opened } from './open-once.ts'

const anyone: Caller = { tenant: 'default', principal: 'anonymous' }

export function createFetch(
  options: EmbedOptions,
  prefix: string,
  ready: Promise<Opened>,
): (request: Request) => Promise<Response> {
  const { hostname } = new URL(options.url)
  const guard = createGuard({ ...options, host: hostname })
  // A name that only this machine has. Others need to say who calls.
  const isOpen = options.caller === undefined && isLoopback(hostname)
  const callerOf = options.caller ?? (() => (isOpen ? anyone : undefined))

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const path = url.pathname.slice(prefix.length) || '/'
    if (!url.pathname.startsWith(prefix) || !path.startsWith('/')) return notFound(url.pathname)
    const { headers } = request
    const refused = guard(headers.get('host') ?? url.host, headers.get('origin') ?? undefined)
    if (refused !== undefined) return refusal(403, refused.code, refused.message)
    const caller = await callerOf(request)
    if (caller === undefined) return refusal(401, 'UNAUTHENTICATED', 'This needs a caller')
    const { engine, a2a } = await ready
    if (path === '/events' && request.method === 'POST') {
      const read = readEvents(headers, new Uint8Array(await request.arrayBuffer()))
      if (read.unsupported !== undefined) {
        return refusal(415, 'UNSUPPORTED_MEDIA_TYPE', read.unsupported)
      }
      const results = await engine.emit(caller, read.events)
      const accepted = results.filter(({ fresh }) => fresh).length
      return Response.json({ accepted, duplicates: results.length - accepted }, { status: 202 })
    }
    const inner = new Request(new URL(path + url.search, url.origin), request)
    const env = { caller, may: ownTaskScopes, signal: request.signal }
    return (await a2a().fetch(inner, env)) ?? notFound(url.pathname)
  }

  return (request) => answer(request).catch(refusalOf)
}
