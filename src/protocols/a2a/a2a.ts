/**
 * The A2A adapter: versions 1.0 and 0.3, JSON-RPC and REST, streams, cards and push, as one fetch-style handler.
 *
 *   const a2a = createA2A({ engine, store, publicUrl, clock, ids, log, … })
 *   await a2a.start()                               // after engine.start(): continues deliveries to webhooks
 *   const response = await a2a.fetch(request, env)  // undefined: not an address of the adapter
 *   const answer = await a2a.handle(request, env)   // the same with `HttpRequest` and `HttpAnswer`
 *   a2a.close()                                     // before engine.drain(): ends streams and waiting sends
 *
 * The server that mounts the adapter checks Host, Origin and the size of the body, and authenticates: `env.caller` is
 * the caller, `env.may` says which scopes the caller has (`tasks:read`, `tasks:write`, `tasks:control`, `tasks:work`).
 * `ownTaskScopes` allows everything with the caller's own tasks.
 */

import { LullError } from '../../core/errors.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { createHeartbeat } from '../../http/event-stream.ts'
import {
  addressOf,
  fromRequest,
  type HttpAnswer,
  type HttpRequest,
  toResponse,
} from '../../http/http.ts'
import { type Endpoint, endpointAt } from './addresses/routing.ts'
import { askedVersion } from './addresses/versions.ts'
import { type CallMethod, createCallMethod } from './bindings/by-name.ts'
import { type Exchange, JSON_TYPE, jsonAnswer } from './bindings/exchange.ts'
import { serveRpc, unsupportedVersion } from './bindings/json-rpc.ts'
import { failed, serveRest } from './bindings/rest.ts'
import type { A2AContext, A2AEnv, A2AFetchEnv } from './call.ts'
import type { CardOptions, SecurityOptions } from './cards/card-options.ts'
import { createCardResponse } from './cards/card-response.ts'
import { type ServedAgent, servedAgents } from './cards/served-agents.ts'
import {
  createSignCard,
  createSigningKey,
  type PublicJwk,
  type SigningKey,
} from './cards/signing-key.ts'
import { type Codecs, createCodecs, stateSpelling } from './codec/create-codecs.ts'
import { type A2AConfig, defaultConfig } from './config.ts'
import { A2AError, failureOf } from './errors/faults.ts'
import { activated } from './extensions.ts'
import type { PushStore } from './push/delivery-deps.ts'
import { createPost, type Post } from './push/post.ts'
import { createPushes, type Pushes } from './push/pushes.ts'
import { createPushSigner } from './push/signature.ts'
import { createClosing } from './streams/closing.ts'
import { createFanOut, createTaskTexts } from './streams/fan-out.ts'

export interface A2AOptions
  extends Pick<EngineDeps, 'clock' | 'ids' | 'log' | 'tracing' | 'meter'> {
  readonly engine: Engine
  /** Additional content of the cards, by agent name. */
  readonly agents?: Readonly<Record<string, CardOptions>>
  /** How callers authenticate. Shown on cards. */
  readonly security?: SecurityOptions
  /** The address of the server for clients, without a slash at the end. */
  readonly publicUrl: string
  /**
   * The engine's store, which writes webhooks together with their tasks. Absent: no push
   * notifications.
   */
  readonly store?: PushStore
  /** PEM of a P-256 private key; needed with `config.pushSign` and `config.signCards`. */
  readonly pushKey?: string
  /** Returns the public keys to publish. Default: that of `pushKey`. */
  readonly publishedKeys?: () => Promise<readonly PublicJwk[]>
  /**
   * Whether the credential with this id is still valid. A webhook ends with the credential that set
   * it. Default: always.
   */
  readonly stillValid?: (credential: string) => Promise<boolean>
  readonly config?: Partial<A2AConfig>
  /** Sends a request to a webhook. Tests replace it. */
  readonly post?: Post
}

export interface A2A {
  /**
   * Answers a request. Undefined if it is not for an address of the adapter; its body is then
   * unread.
   */
  fetch(request: Request, env: A2AFetchEnv): Promise<Response | undefined>
  /** Like `fetch`, for servers that do not use `Request` and `Response`. */
  handle(request: HttpRequest, env: A2AEnv): HttpAnswer | Promise<HttpAnswer> | undefined
  /** Calls a method of A2A 1.0, for a binding that is not HTTP. It never rejects. */
  readonly call: CallMethod
  start(): Promise<void>
  close(): void
}

export function createA2A(options: A2AOptions): A2A {
  const { engine, clock, ids, log } = options
  const config = { ...defaultConfig, ...options.config }
  const codecs = createCodecs(config)
  const isSigning = config.pushSign || config.signCards
  const key = isSigning ? createSigningKey(options.pushKey ?? '') : undefined
  const pushes = pushesOf(options, config, codecs, key)
  const closing = createClosing()
  const a2a: A2AContext = {
    engine,
    clock,
    ids,
    log,
    heartbeat: createHeartbeat(clock.after, config.heartbeatMs),
    pushes,
    closing,
    fanOut: createFanOut(),
    texts: createTaskTexts(),
    binduPausable: config.binduPausableStates,
    harnTunnel: config.harnTunnel,
  }
  const jku = `${options.publicUrl}/.well-known/jwks.json`
  const signCard = key !== undefined && config.signCards ? createSignCard(key, jku) : undefined
  const agents = servedAgents(options, config, pushes !== undefined, signCard)
  const keys = key && (options.publishedKeys ?? (async () => [key.jwk]))
  const cards = createCardResponse(clock.now())

  function agentAt(name: string | undefined): ServedAgent {
    const agent = agents.get(name)
    if (agent === undefined) throw new LullError('AGENT_UNKNOWN', { agent: name ?? '' })
    return agent
  }

  /** The agent of an address that names none. It is ambiguous if the server has several agents. */
  function onlyAgent(): ServedAgent {
    if (engine.agents.size === 1) return agentAt(undefined)
    const which = 'Which agent? The URL of an agent ends with a slash: /agents/{name}/'
    throw new A2AError('METHOD_NOT_FOUND', which)
  }

  /** Answers with the public keys. Receivers may cache them, but must not miss a new key for long. */
  async function answerKeys(): Promise<HttpAnswer> {
    const body = JSON.stringify({ keys: (await keys?.()) ?? [] })
    return jsonAnswer(body, { 'cache-control': 'public, max-age=300' })
  }

  function serve(
    request: HttpRequest,
    endpoint: Endpoint,
    env: A2AEnv,
  ): HttpAnswer | Promise<HttpAnswer> {
    try {
      if (endpoint.kind === 'keys') return answerKeys()
      const agent = endpoint.kind === 'nameless-card' ? onlyAgent() : agentAt(endpoint.agent)
      const query = request.search === '' ? undefined : new URLSearchParams(request.search)
      if (endpoint.kind === 'card' || endpoint.kind === 'nameless-card') {
        const version = askedVersion(request, query) ?? '0.3'
        if (version === 'unknown') throw unsupportedVersion(request)
        return cards(agent, version, request)
      }
      const active = activated(request)
      const words = stateSpelling(config, endpoint.core, active)
      const exchange: Exchange = { a2a, codecs, words, active, request, query, env, agent }
      return endpoint.kind === 'rpc' ? serveRpc(exchange) : serveRest(exchange, endpoint)
    } catch (error) {
      return failed(failureOf(error), '1.0', false, JSON_TYPE)
    }
  }

  function endpointFor(method: string, path: string): Endpoint | undefined {
    const endpoint = endpointAt(method, path)
    return endpoint?.kind === 'keys' && keys === undefined ? undefined : endpoint
  }

  return {
    async fetch(request, env) {
      const endpoint = endpointFor(request.method, addressOf(request.url).path)
      if (endpoint === undefined) return undefined
      return toResponse(await serve(await fromRequest(request, env.signal), endpoint, env))
    },
    handle(request, env) {
      const endpoint = endpointFor(request.method, request.path)
      return endpoint && serve(request, endpoint, env)
    },
    call: createCallMethod({ a2a, codecs, agentAt }),
    async start() {
      await pushes?.start()
    },
    close() {
      closing.close()
      pushes?.close()
    },
  }
}

function pushesOf(
  { engine, store, clock, ids, log, tracing, meter, post, publicUrl, stillValid }: A2AOptions,
  config: A2AConfig,
  codecs: Codecs,
  key: SigningKey | undefined,
): Pushes | undefined {
  if (store === undefined) return undefined
  const signing = { issuer: publicUrl, now: clock.wall, uuid: ids.uuid }
  const signer = key && config.pushSign ? createPushSigner({ key, ...signing }) : undefined
  const { pushToPrivate: allowInner, pushTimeoutMs: timeoutMs } = config
  return createPushes({
    engine,
    store,
    codecs,
    post: post ?? createPost({ allowInner, timeoutMs, signer }),
    timeoutMs,
    clock,
    log,
    ...(tracing === undefined ? {} : { tracing }),
    ...(meter === undefined ? {} : { meter }),
    ids,
    random: ids.random,
    stillValid: stillValid ?? (async () => true),
    allowInner,
    webhooks: config.webhooks,
  })
}
