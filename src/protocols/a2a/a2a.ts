/**
 * The A2A adapter: versions 1.0 and 0.3, JSON-RPC and REST, streams, cards and push, as one fetch-style handler.
 *
 * The seam with the server that mounts it:
 *
 *   const a2a = createA2A({ engine, store, publicUrl, clock, ids, log, … })
 *   await a2a.start()                               // after engine.start(): goes on with deliveries
 *   const response = await a2a.fetch(request, env)  // undefined: not an address of ours; or, in its own words,
 *   const answer = await a2a.handle(request, env)
 *   a2a.close()                                     // before engine.drain(): ends streams and waiting sends
 *
 * The server has checked Host, Origin and the size of the body, and knows who is calling: `env.caller`, and with
 * `env.may` which scopes they have (`tasks:read`, `tasks:write`, `tasks:control`, `tasks:work`). A `may` that is left out
 * allows everything, which is right on a loopback server without authentication and nowhere else.
 */
import { LullError } from '../../core/errors.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import { createHeartbeat } from '../../wire/event-stream.ts'
import { fromRequest, toResponse } from '../../wire/fetch.ts'
import { addressOf, type HttpAnswer, type HttpRequest } from '../../wire/http.ts'
import { JSON_TYPE, jsonAnswer } from './bindings/answers.ts'
import type { Exchange } from './bindings/exchange.ts'
import { serveRpc, unsupportedVersion } from './bindings/json-rpc.ts'
import { failed, serveRest } from './bindings/rest.ts'
import type { A2AContext } from './call.ts'
import type { CardFacts, SecurityFacts } from './cards/card-facts.ts'
import { createCardResponse } from './cards/card-response.ts'
import { type ServedAgent, serveAgent } from './cards/served-agent.ts'
import { createClosing } from './closing.ts'
import { createCodecs, stateWords } from './codec/codecs.ts'
import { type A2AConfig, defaultConfig } from './config.ts'
import type { A2AEnv, A2AFetchEnv } from './env.ts'
import { activated } from './extensions.ts'
import { failureOf } from './failure.ts'
import { createFanOut } from './fan-out.ts'
import { A2AError } from './faults.ts'
import { createPost, type Post } from './push/post.ts'
import type { PushStore } from './push/push-store.ts'
import { createPushes } from './push/pushes.ts'
import { createPushSigner, type PushSigner } from './push/signature.ts'
import { type Endpoint, endpointAt } from './routing.ts'
import { createTaskTexts } from './task-texts.ts'
import { askedVersion } from './versions.ts'

export interface A2AOptions extends Pick<EngineDeps, 'clock' | 'ids' | 'log'> {
  readonly engine: Engine
  /** What the cards say beyond the agents themselves, by agent name. */
  readonly agents?: Readonly<Record<string, CardFacts>>
  /** How callers authenticate, for the cards. */
  readonly security?: SecurityFacts
  /** Where clients reach us, without a slash at the end. */
  readonly publicUrl: string
  /** Where webhooks are kept: the engine's own store, which writes them with the tasks. Absent: no push notifications. */
  readonly store?: PushStore
  /** PEM of a P-256 private key; needed with `config.pushSign`. */
  readonly pushKey?: string
  readonly config?: Partial<A2AConfig>
  /** How webhooks are called; for tests. */
  readonly post?: Post
}

export interface A2A {
  /** Undefined: not an address of ours; the body was not touched. */
  fetch(request: Request, env: A2AFetchEnv): Promise<Response | undefined>
  /** The same for a server that has no use for the web platform's requests. */
  handle(request: HttpRequest, env: A2AEnv): HttpAnswer | Promise<HttpAnswer> | undefined
  start(): Promise<void>
  close(): void
}

export function createA2A(options: A2AOptions): A2A {
  const { engine, clock, ids, log, store } = options
  const config = { ...defaultConfig, ...options.config }
  const codecs = createCodecs(config)
  const signer = config.pushSign ? signerOf(options) : undefined
  const post =
    options.post ??
    createPost({ allowInner: config.pushToPrivate, timeoutMs: config.pushTimeoutMs, signer })
  const pushes =
    store &&
    createPushes({
      engine,
      store,
      codecs,
      post,
      clock,
      log,
      ids,
      random: ids.random,
      allowInner: config.pushToPrivate,
    })
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
  const agents = agentsOf(options, config, pushes !== undefined)
  const cards = createCardResponse(clock.now())

  function agentAt(name: string | undefined): ServedAgent {
    const agent = agents.get(name)
    if (agent === undefined) throw new LullError('AGENT_UNKNOWN', { agent: name ?? '' })
    return agent
  }

  /** A server with several agents cannot know which of them is meant. */
  function onlyAgent(): ServedAgent {
    if (engine.agents.size === 1) return agentAt(undefined)
    throw new A2AError(
      'METHOD_NOT_FOUND',
      'Which agent? The URL of an agent ends with a slash: /agents/{name}/',
    )
  }

  function endpointFor(method: string, path: string): Endpoint | undefined {
    const endpoint = endpointAt(method, path)
    return endpoint?.kind === 'keys' && signer === undefined ? undefined : endpoint
  }

  function serve(
    request: HttpRequest,
    endpoint: Endpoint,
    env: A2AEnv,
  ): HttpAnswer | Promise<HttpAnswer> {
    try {
      if (endpoint.kind === 'keys') return keysAnswer(signer)
      const agent = endpoint.kind === 'nameless-card' ? onlyAgent() : agentAt(endpoint.agent)
      const query = request.search === '' ? undefined : new URLSearchParams(request.search)
      if (endpoint.kind === 'card' || endpoint.kind === 'nameless-card') {
        const version = askedVersion(request, query) ?? '0.3'
        if (version === 'unknown') throw unsupportedVersion(request)
        return cards(agent, version, request)
      }
      const active = activated(request)
      const words = stateWords(config, endpoint.core, active)
      const exchange: Exchange = { a2a, codecs, words, active, request, query, env, agent }
      return endpoint.kind === 'rpc' ? serveRpc(exchange) : serveRest(exchange, endpoint)
    } catch (error) {
      return failed(failureOf(error), '1.0', false, JSON_TYPE)
    }
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
    async start() {
      await pushes?.start()
    },
    close() {
      closing.close()
      pushes?.close()
    },
  }
}

function signerOf({ pushKey, publicUrl, clock, ids }: A2AOptions): PushSigner {
  return createPushSigner({
    key: pushKey ?? '',
    issuer: publicUrl,
    now: clock.now,
    uuid: ids.uuid,
  })
}

/** Receivers may keep it for a while, but not so long that a new key goes unnoticed. */
function keysAnswer(signer: PushSigner | undefined): HttpAnswer {
  return jsonAnswer(signer?.jwks ?? '', { 'cache-control': 'public, max-age=300' })
}

/** By name, and the first one without a name: the root of the server is its front door. */
function agentsOf(
  options: A2AOptions,
  config: A2AConfig,
  push: boolean,
): ReadonlyMap<string | undefined, ServedAgent> {
  const { engine, publicUrl, agents: facts = {}, security = {} } = options
  const served = new Map<string | undefined, ServedAgent>()
  for (const agent of engine.agents.values()) {
    const common = {
      facts: facts[agent.name] ?? {},
      security,
      push,
      harn: config.harnTunnel,
      consentState: config.consentState,
    }
    if (served.size === 0) {
      served.set(undefined, serveAgent(agent, { ...common, url: publicUrl, scope: undefined }))
    }
    const url = `${publicUrl}/agents/${agent.name}`
    served.set(agent.name, serveAgent(agent, { ...common, url, scope: agent.name }))
  }
  return served
}
