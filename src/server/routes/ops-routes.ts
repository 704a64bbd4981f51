/**
 * `/ops`: the routes for operators, the dashboard and the command line. Their table is
 * `protocols/ops/routes.ts`.
 */

import type { Context, Hono } from 'hono'
import { LullError } from '../../core/errors.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import { createHeartbeat, eventStream, eventStreamHeaders } from '../../http/event-stream.ts'
import { parseStrictJson } from '../../http/strict-json.ts'
import { changesFor } from '../../protocols/ops/changes.ts'
import { isOperatorScope, type OpsRoute, readsTasks } from '../../protocols/ops/route.ts'
import { opsRoutes, opsStreams } from '../../protocols/ops/routes.ts'
import { nextEvents, readTimeline } from '../../protocols/ops/timeline.ts'
import type { IdentityOf } from '../auth/gate.ts'
import { callerIn, type Identity, may, operatorIn } from '../auth/identity.ts'
import type { CountedResponse } from '../http/counted-response.ts'

const noStore = { 'cache-control': 'no-store' }
const HEARTBEAT_MS = 4_000

/** @param traceUrl where a trace is shown; `{traceId}` stands for its id */
export function addOpsRoutes(
  app: Hono,
  engine: Engine,
  identityOf: IdentityOf,
  traceUrl?: string,
): void {
  const heartbeat = createHeartbeat(engine.clock.after, HEARTBEAT_MS)

  const readerOf = (c: Context): Caller =>
    callerFor(readsTasks, identityOf(c), new URL(c.req.url).searchParams)

  for (const route of opsRoutes) {
    app.on(route.method, honoPath(route.path), async (c) => {
      const query = new URL(c.req.url).searchParams
      const request = {
        id: c.req.param('id') ?? '',
        query,
        body: await bodyOf(c, route),
        anyTenant: identityOf(c).anyTenant === true,
        scopes: identityOf(c).scopes,
        traceUrl,
        now: engine.clock.now(),
      }
      const caller = callerFor(route, identityOf(c), query)
      return c.json(await route.handle(engine, caller, request), 200, noStore)
    })
  }

  app.get('/ops/changes', (c) => {
    const { now, after } = engine.clock
    const deps = { engine, now, after, heartbeat }
    const source = changesFor(deps, readerOf(c))
    return new Response(eventStream(source), { headers: eventStreamHeaders })
  })

  app.get('/ops/tasks/:id/timeline', async (c) => {
    const caller = readerOf(c)
    const reading = await engine.follow(caller, c.req.param('id'), { after: afterIn(c) })
    if (c.req.header('accept')?.includes('text/event-stream')) {
      const next = async () => {
        const text = await nextEvents(reading)
        return { text: text ?? '', last: text === undefined }
      }
      const body = eventStream({ next, close: () => reading.close(), heartbeat })
      return new Response(body, { headers: eventStreamHeaders })
    }
    try {
      const { version } = await engine.get(caller, c.req.param('id'))
      return c.json(await readTimeline(reading, afterIn(c), version), 200, noStore)
    } finally {
      reading.close()
    }
  })
}

/** The caller as an operator or, on routes that are also for others, with its own reach. */
function callerFor(
  { scope }: Pick<OpsRoute, 'scope'>,
  identity: Identity,
  query: URLSearchParams,
): Caller {
  const isOperator = isOperatorScope(scope) && may(identity, scope)
  return isOperator ? operatorIn(identity, query) : callerIn(identity, query)
}

/** The methods of a path below `/ops`, for answers with 405. Undefined if there is no such path. */
export function opsMethods(path: string): readonly string[] | undefined {
  const found = [...opsRoutes, ...opsStreams]
    .filter((route) => matches(route.path, path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return found.length === 0 ? undefined : found
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => segment === '{id}' || segment === given[index])
  )
}

/**
 * Hono takes a colon for the beginning of a parameter, so `holds:preview` becomes a parameter with
 * a fixed value.
 */
function honoPath(path: string): string {
  return path.replace('{id}', ':id').replace('holds:preview', ':action{holds:preview}')
}

/** Whether the route reads the body as a stream (`bodyOf`). */
export function isStreamed(method: string, path: string, contentType: string | undefined): boolean {
  return (
    isLines(contentType) &&
    opsRoutes.some(
      (route) =>
        route.fromLines !== undefined && route.method === method && matches(route.path, path),
    )
  )
}

function isLines(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'application/x-ndjson'
}

async function bodyOf(c: Context, route: OpsRoute): Promise<unknown> {
  const { body, bodyMayBeAbsent, fromLines } = route
  if (body === undefined) return undefined
  if (fromLines !== undefined && isLines(c.req.header('content-type'))) {
    return fromLines(await readLines(c.req.raw.body ?? nothing(), { hold: holdOf(c) }))
  }
  const bytes = new Uint8Array(await c.req.arrayBuffer())
  if (bytes.length === 0 && bodyMayBeAbsent === true) return undefined
  const parsed = parseStrictJson(bytes)
  if (parsed.problem === undefined) return parsed.value
  throw new LullError('INVALID_INPUT', { path: '', problem: parsed.problem })
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/** Counts chunks of the body as bytes in flight of the caller. Undefined if there is no socket. */
function holdOf(c: Context): ((bytes: number) => void) | undefined {
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: CountedResponse }
  return (
    outgoing &&
    ((bytes) => {
      const refused = outgoing.holdBody(bytes)
      if (refused === undefined) return
      const { limit, value } = refused
      throw new LullError('LIMIT_EXCEEDED', { limit, value, retryAfterMs: 1_000 })
    })
  )
}

function afterIn(c: Context): number {
  const text = c.req.header('last-event-id') ?? c.req.query('after') ?? '0'
  if (text === 'latest') return Number.MAX_SAFE_INTEGER
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const problem = 'must be a whole number, or latest'
  throw new LullError('INVALID_INPUT', { path: 'after', problem })
}

/** The limit of the whole file. */
const MOST_BYTES = 268_435_456
/**
 * The limits of one line. The result of a step can be 200 levels deep, and its record adds some
 * levels.
 */
const ofALine = { depth: 220, values: 1_000_000, names: 100_000 }
const NEWLINE = 10

interface LinesLimits {
  /** Counts a chunk of the body. Throws when a limit is reached. */
  readonly hold?: ((bytes: number) => void) | undefined
  readonly mostBytes?: number
}

/**
 * Reads JSON Lines as a stream. Each line is parsed when it is complete, so the whole text is never
 * in memory, and the event loop runs between two chunks. The limits are those of a file and of a
 * line, not those of a request.
 *
 * @throws LullError `INVALID_INPUT` with the number of the line, or `LIMIT_EXCEEDED`
 */
export async function readLines(
  body: AsyncIterable<Uint8Array>,
  { hold, mostBytes = MOST_BYTES }: LinesLimits = {},
): Promise<readonly unknown[]> {
  const values: unknown[] = []
  let pieces: Uint8Array[] = []
  let line = 0
  let size = 0

  const endLine = (): void => {
    line++
    const text = Buffer.concat(pieces)
    pieces = []
    if (text.every(isBlank)) return
    const parsed = parseStrictJson(text, ofALine)
    if (parsed.problem === undefined) values.push(parsed.value)
    else {
      const problem = parsed.problem.replace('The body', 'the line')
      throw new LullError('INVALID_INPUT', { path: `line ${line}`, problem })
    }
  }

  const take = (chunk: Uint8Array): void => {
    size += chunk.length
    if (size > mostBytes) {
      throw new LullError('LIMIT_EXCEEDED', { limit: 'bytes of an import', value: mostBytes })
    }
    hold?.(chunk.length)
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      pieces.push(chunk.subarray(from, end))
      from = end + 1
      endLine()
    }
    pieces.push(chunk.subarray(from))
  }

  let failure: unknown
  for await (const chunk of body) {
    // After an error, the rest is read and discarded, so that the client gets to read the refusal.
    if (failure !== undefined) continue
    try {
      take(chunk)
    } catch (error) {
      failure = error
      values.length = 0
    }
  }
  if (failure !== undefined) throw failure
  endLine()
  return values
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 13
}
