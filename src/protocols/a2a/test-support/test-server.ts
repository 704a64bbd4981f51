/** An adapter with a real engine and the script agent, called through its fetch handler. For tests only. */
import type { JsonObject } from '../../../core/values/json.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Store } from '../../../ports/store.ts'
import type { ManualClock } from '../../../testing/manual-clock.ts'
import { anyone, startTestEngine, type TestEngineOptions } from '../../test-support/test-engine.ts'
import { type A2A, type A2AFetchEnv, type A2AOptions, createA2A, ownTaskScopes } from '../index.ts'
import { type Frame, framesIn } from './frames.ts'
import type { Loose } from './loose.ts'

export type { Loose } from './loose.ts'

export { anyone }

export interface TestServerOptions extends TestEngineOptions {
  readonly a2a?: Partial<A2AOptions>
  readonly env?: Partial<A2AFetchEnv>
}

export interface TestServer {
  readonly engine: Engine
  readonly a2a: A2A
  readonly store: Store
  readonly clock: ManualClock
  /** Makes a JSON-RPC call. @returns the whole answer */
  rpc(version: '1.0' | '0.3', method: string, params?: unknown, headers?: HeaderMap): Promise<Loose>
  /** The result of a call that must succeed. */
  ok(version: '1.0' | '0.3', method: string, params?: unknown, headers?: HeaderMap): Promise<Loose>
  stream(
    version: '1.0' | '0.3',
    method: string,
    params: unknown,
    headers?: HeaderMap,
  ): Promise<AsyncGenerator<Frame, void>>
  fetch(verb: string, path: string, body?: unknown, headers?: HeaderMap): Promise<Response>
  raw(request: Request, env?: Partial<A2AFetchEnv>): Promise<Response | undefined>
  /** Shuts down in order and starts another server with the same store. */
  restart(): Promise<TestServer>
}

export type HeaderMap = Readonly<Record<string, string>>

export async function openTestServer(given: TestServerOptions = {}): Promise<TestServer> {
  const { engine, store, clock, ids, log } = await startTestEngine(given)
  const publicUrl = 'http://lull.test'
  const a2a = createA2A({ engine, store, clock, ids, log, publicUrl, ...given.a2a })
  await a2a.start()
  let calls = 0

  const raw: TestServer['raw'] = (request, env) =>
    a2a.fetch(request, { caller: anyone, may: ownTaskScopes, ...given.env, ...env })

  async function fetch(
    verb: string,
    path: string,
    body?: unknown,
    headers: HeaderMap = {},
  ): Promise<Response> {
    const request = requestTo(verb, path, body, headers)
    const response = await raw(request)
    if (response === undefined) throw new Error(`${verb} ${path} is not an address of the adapter`)
    return response
  }

  function post(
    version: '1.0' | '0.3',
    method: string,
    params: unknown,
    headers: HeaderMap = {},
  ): Promise<Response> {
    const envelope = { jsonrpc: '2.0', id: `call-${++calls}`, method, params }
    const asked: HeaderMap = version === '1.0' ? { 'a2a-version': '1.0' } : {}
    return fetch('POST', '/', envelope, { ...asked, ...headers })
  }

  const rpc: TestServer['rpc'] = async (version, method, params = {}, headers) =>
    (await post(version, method, params, headers)).json()

  return {
    engine,
    a2a,
    store,
    clock,
    fetch,
    raw,
    rpc,
    async ok(version, method, params, headers) {
      const answer = await rpc(version, method, params, headers)
      if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error))
      return answer.result
    },
    async stream(version, method, params, headers) {
      const response = await post(version, method, params, headers)
      const type = response.headers.get('content-type')
      if (type !== 'text/event-stream') throw new Error(`${type}: ${await response.text()}`)
      return framesIn(response)
    },
    async restart() {
      a2a.close()
      await engine.drain({ timeoutMs: 0 })
      return openTestServer({ ...given, store, clock })
    },
  }
}

function requestTo(verb: string, path: string, body: unknown, headers: HeaderMap): Request {
  const url = `http://lull.test${path}`
  if (body === undefined) return new Request(url, { method: verb, headers })
  return new Request(url, {
    method: verb,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** A message for the script agent, in the shape of each version. */
export function scripted(
  version: '1.0' | '0.3',
  ops: readonly unknown[],
  some: JsonObject = {},
): Loose {
  const data = { script: ops }
  return version === '1.0'
    ? { messageId: 'm-1', role: 'ROLE_USER', parts: [{ data }], ...some }
    : { messageId: 'm-1', role: 'user', parts: [{ kind: 'data', data }], ...some }
}

export function textMessage(version: '1.0' | '0.3', text: string, some: JsonObject = {}): Loose {
  return version === '1.0'
    ? { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }], ...some }
    : { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text }], ...some }
}
