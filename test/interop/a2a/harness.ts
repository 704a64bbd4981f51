/** A server on a real socket with a durable store, for clients of other projects. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { createEngine, type Engine } from '../../../src/engine/engine.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { type A2A, createA2A } from '../../../src/protocols/a2a/index.ts'
import { owner } from '../../../src/server/auth/identity.ts'
import { openGrpc } from '../../../src/server/grpc/open-grpc.ts'
import { createBytesInFlight } from '../../../src/server/http/bytes-in-flight.ts'
import { divertHttp2 } from '../../../src/server/http/first-bytes.ts'
import { systemClock } from '../../../src/server/system/clock.ts'
import { createIds } from '../../../src/server/system/ids.ts'
import { createSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { createScriptAgent } from '../../../src/testing/script-agent/script-agent.ts'
import { testSigner } from '../../../src/testing/test-signer.ts'

export interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
  readonly body: any
}

export interface Harness {
  readonly url: string
  readonly engine: Engine
  readonly a2a: A2A
  /** A webhook on a loopback address, and what it got. */
  readonly hook: { readonly url: string; readonly received: readonly Received[] }
  /** Pauses a task whose step of `UNTIL_PAUSED` runs. The step ends once the pause waits for it. */
  pause(taskId: string, reason: string): Promise<void>
  /** Control methods, which official clients do not have. */
  control(method: string, params: unknown): Promise<unknown>
  close(): Promise<void>
}

/** As the `ms` of a step: it lasts until the task is paused, however busy the machine is. */
export const UNTIL_PAUSED = 1_000_000_000

export const caller = { tenant: 'default', principal: 'anonymous' }

export async function openHarness(): Promise<Harness> {
  const data = await mkdtemp(join(tmpdir(), 'lull-interop-'))
  const store = await createSqliteStore({ path: data })
  const ids = createIds()
  const log = (): void => undefined
  const lasting = new Set<() => void>()
  const clock: Pick<Clock, 'now' | 'after'> = {
    now: Date.now,
    after(ms, done) {
      if (ms < UNTIL_PAUSED) return systemClock.after(ms, done)
      lasting.add(done)
      return () => void lasting.delete(done)
    },
  }
  const engine = createEngine({
    store,
    agents: [createScriptAgent({ clock })],
    clock: systemClock,
    ids,
    signer: testSigner,
    log,
    memory: { usedBytes: () => 0 },
  })
  await engine.start()
  let handle: (request: Request) => Promise<Response> = async () => new Response(null)
  const server = createAdaptorServer({ fetch: (request) => handle(request) }) as Server
  const url = await listen(server)
  const a2a = createA2A({
    engine,
    store,
    clock: systemClock,
    ids,
    log,
    publicUrl: url,
    config: { pushToPrivate: true, grpcAddress: new URL(url).host },
  })
  const grpc = openGrpc({
    a2a,
    authenticate: () => owner,
    admission: { enter: () => () => undefined },
    inFlight: createBytesInFlight(100_000_000),
    refused: { ofStranger: () => undefined, ofCaller: () => undefined },
    log,
    meter: { add: () => undefined },
    clock: systemClock,
    isReady: async () => true,
    host: '127.0.0.1',
  })
  divertHttp2(server, grpc.take)
  handle = async (request) =>
    (await a2a.fetch(request, { caller, may: () => true })) ??
    new Response('not found', { status: 404 })
  const received: Received[] = []
  const hook = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers, body: JSON.parse(body) })
      response.writeHead(200).end()
    })
  })
  const hookUrl = `${await listen(hook)}/hook`

  const control: Harness['control'] = async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }

  return {
    url,
    engine,
    a2a,
    hook: { url: hookUrl, received },
    control,
    async pause(taskId, reason) {
      await eventually(() => lasting.size > 0)
      const paused = control('tasks/pause', { taskId, reason })
      await eventually(async () => (await engine.get(caller, taskId)).pausing !== undefined)
      for (const done of lasting) done()
      await paused
    },
    async close() {
      a2a.close()
      grpc.cut()
      server.closeAllConnections()
      server.close()
      hook.closeAllConnections()
      hook.close()
      await engine.drain({ timeoutMs: 0 })
      await store.close()
      await rm(data, { recursive: true, force: true })
    },
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    })
  })
}

/** Until it holds, without guessing how long that takes. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const until = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > until) throw new Error('it never came true')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
