import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { corpus, type HostileRequest, manyNames } from './hostile/corpus.ts'
import { openProbedServer, type ProbedServer } from './hostile/probed-server.ts'

/**
 * No request holds the event loop for longer. It is processor time, so a busy machine does not count. On a slow machine it is
 * as many times longer as the reference takes there.
 */
const HELD_MS = 100
const REFERENCE_MS = 20
/**
 * The smallest of so many attempts counts. Other processes on the same core empty its caches, the garbage collector runs for
 * earlier requests, and code that runs for the first time is slow.
 */
const ATTEMPTS = 10

let server: ProbedServer
let allowed = HELD_MS
beforeAll(async () => {
  server = await openProbedServer()
  // More than a list answers with.
  for (let task = 0; task < 16; task++) await send(manyNames)
  allowed = HELD_MS * Math.max(1, (await server.reference()) / REFERENCE_MS)
})
afterAll(() => server[Symbol.asyncDispose]())

async function send({ path = '/', method = 'POST', headers = {}, body }: HostileRequest) {
  const sent = method === 'GET' ? {} : { body }
  const response = await fetch(server.url + path, { method, headers, ...sent })
  return { status: response.status, text: await response.text() }
}

/** Stops at the first attempt that is short enough: the smallest one is at most as long. */
async function shortestHold(request: HostileRequest, allowed: number): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS && shortest >= allowed; attempt++) {
    await server.longest()
    const { text } = await send(request)
    shortest = Math.min(shortest, await server.longest())
    if (process.env['LULL_SHOW'])
      console.log(Math.round(shortest), request.name, text.slice(0, 100))
    // Nothing of a large request comes back.
    if (request.right !== true) expect(text.length).toBeLessThan(4_096)
  }
  return shortest
}

describe('one hostile request', () => {
  it.each(corpus.map((one) => [one.name, one] as const))(
    'does not hold the event loop: %s',
    async (_, request) => {
      expect(await shortestHold(request, allowed)).toBeLessThan(allowed)
    },
  )

  it('leaves the server healthy', async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })
})
