/** `serve({ agents })` runs an engine behind an HTTP socket. */
import type { Agent } from '../engine/author/agent.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../ports/log.ts'
import { noMeter } from '../ports/meter.ts'
import { type A2A, type A2AConfig, createA2A } from '../protocols/a2a/index.ts'
import { ACP_PATH, type AcpMount, mountAcp } from './acp/acp-mount.ts'
import { createUpgrade } from './acp/upgrades.ts'
import { createAdmission, defaultLimits } from './auth/admission.ts'
import { type Auth, createAuth } from './auth/auth.ts'
import type { AuthenticateRequest } from './auth/authenticate.ts'
import { identityOfRequest } from './auth/gate.ts'
import { createRefusedAttempts } from './auth/refused-attempts.ts'
import { openGrpc } from './grpc/open-grpc.ts'
import { reachable, showAddress } from './http/address-file.ts'
import { createApp } from './http/app.ts'
import { createBytesInFlight } from './http/bytes-in-flight.ts'
import { createFront, REFUSED } from './http/front.ts'
import { isLoopback } from './http/guard.ts'
import { type Listener, listen } from './http/listen.ts'
import { type OpenEngine, openEngine, toStderr } from './open-engine.ts'
import { StartError } from './process/start-error.ts'
import { closeOnSignals } from './process/stop-signals.ts'
import { watchStrayErrors } from './process/stray-errors.ts'
import { type CheckedConfig, readConfig, type ServerConfig } from './settings/config.ts'
import {
  type AuthMode,
  type GivenSettings,
  readSettings,
  type Settings,
} from './settings/settings.ts'
import { chooseStore, placeOf } from './store/open-store.ts'
import { createLog } from './system/log.ts'
import { signingKeys } from './system/signing-keys.ts'
import { reportMissingSdk } from './telemetry/tracing.ts'

export type { Agent }

/** Options of `serve`. Missing ones are read from the environment, or have defaults. */
export interface ServeOptions extends ServerConfig {
  /** The agents. The first one is the default: it answers at the root. */
  readonly agents: readonly Agent[]
  /** Default 8787; 0 chooses a free port. */
  readonly port?: number | undefined
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** The data directory. Default `./.lull`. */
  readonly data?: string | undefined
  /** A configuration file. Options given here take precedence. */
  readonly config?: string | undefined
  /** Allows an address that other machines can reach even without authentication. */
  readonly insecure?: boolean | undefined
  /**
   * Determines the identity of a request, for your own credentials. It is asked if no key and no
   * token matches.
   */
  readonly authenticate?: AuthenticateRequest | undefined
  /** Default: writes lines of JSON to stderr. */
  readonly log?: Log | undefined
  /** Suppresses printing the address. */
  readonly quiet?: boolean | undefined
  /**
   * False leaves SIGINT, SIGTERM and SIGHUP to the program. Default: they shut down the server and
   * end the process.
   */
  readonly signals?: boolean | undefined
}

export interface RunningServer {
  readonly url: string
  readonly engine: Engine
  readonly port: number
  readonly data: string
  /**
   * Where tasks are stored, for people to read: the data directory, or the database without its
   * password.
   */
  readonly tasksIn: string
  /**
   * Shuts down in bounded time: running turns reach a boundary, and streams end. Every task
   * continues in the next process.
   */
  close(): Promise<void>
}

/** With authentication, a single tenant leaves a quarter of an agent's slots free. */
const SHARE_OF_A_TENANT = 0.75
/** How long open requests may take to end after the engine has drained. */
const CLOSE_GRACE_MS = 1_000

/**
 * Serves agents over HTTP until it is closed or the process gets a signal to end.
 * @throws StartError or LullError, each with a sentence an operator can act on
 *
 * @example
 * ```ts
 * import { agent, serve } from 'lull'
 *
 * const echo = agent({ name: 'echo', description: 'Repeats', run: (task) => task.text })
 *
 * const { url, close } = await serve({ agents: [echo], port: 0, signals: false })
 * const card = await fetch(`${url}/.well-known/agent-card.json`)
 * process.stdout.write(await card.text())
 * await close()
 * ```
 */
export async function serve(given: ServeOptions): Promise<RunningServer> {
  const serving = await startServer(given)
  const forget = given.signals === false ? undefined : closeOnSignals(serving.close)
  if (given.quiet !== true)
    toStderr(`Lull serves at ${serving.url}, with its data in ${serving.tasksIn}`)
  return {
    ...serving,
    async close() {
      await serving.close()
      forget?.()
    },
  }
}

/** A server with its ACP mount, for a process that also speaks ACP on stdio. */
export interface ServingAcp extends RunningServer {
  readonly acp: AcpMount
}

export async function startServer(given: ServeOptions): Promise<ServingAcp> {
  const settings = readSettings(toSettings(given))
  const config = readConfig(settings.config, given)
  const isSafe = given.insecure === true || isAuthenticated(given, settings, config)
  refuseOpenHost(settings.host, isSafe)
  const log = given.log ?? createLog(toStderr, settings.logLevel)
  reportMissingSdk(log)
  const listener = await listen(settings.host, settings.port, log)
  try {
    return await answerOn(listener, { ...given, log }, settings, config)
  } catch (error) {
    await listener.close(0)
    throw error
  }
}

async function answerOn(
  listener: Listener,
  given: ServeOptions & { readonly log: Log },
  settings: Settings,
  config: CheckedConfig,
): Promise<ServingAcp> {
  const { agents } = given
  const { host, data, stores, receiptKey, formerReceiptKeys, trustedReceiptKeys } = settings
  const store = chooseStore([...stores, config], data)
  const { port } = listener
  const figuresOfAllTenants = !isAuthenticated(given, settings, config)
  const tenantShare = figuresOfAllTenants ? 1 : SHARE_OF_A_TENANT
  const options = { tenantShare, figuresOfAllTenants, ...config.engine }
  const open = await openEngine({
    agents,
    data,
    store: store.kind,
    postgres: store.postgres,
    receiptKey,
    formerReceiptKeys,
    trustedReceiptKeys,
    log: given.log,
    options,
  })
  const { engine } = open
  const { log } = open.deps
  const publicUrl = given.publicUrl === undefined ? settings.publicUrl : undefined
  const url =
    publicUrl ?? config.publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const auth = await startAuth(given, settings, config, open, url)
  const isPublished = publicUrl !== undefined || config.publicUrl !== undefined
  const a2aConfig = {
    ...(isPublished || config.a2a?.grpc === false ? {} : { grpcAddress: addressIn(url) }),
    ...config.a2a,
  }
  const a2a = await startA2A(open, url, data, a2aConfig, auth).catch(async (error: unknown) => {
    await open.close()
    throw error
  })
  const unwatch = watchStrayErrors(log)
  const acp = mountAcp(open, log, config.acp)
  await acp.start().catch((error: unknown) => log('warn', 'ACP could not start', { error }))
  const app = appOf(open, acp, { url, traceUrl: config.traceUrl, signIn: auth.signIn })
  const guarding = { ...config, host }
  const { authenticate, stillValid } = auth
  const { clock, meter = noMeter } = open.deps
  const admission = createAdmission({ clock, stillValid }, { ...defaultLimits, ...config.limits })
  const refused = createRefusedAttempts(engine.audit)
  const { bytesInFlight } = { ...defaultLimits, ...config.limits }
  const inFlight = createBytesInFlight(bytesInFlight, (limit) => meter.add(REFUSED, 1, limit))
  const isReady = async (): Promise<boolean> => (await engine.health()).ready
  const doors = { authenticate, admission, inFlight, refused }
  listener.answer(
    createFront({ ...guarding, ...doors, a2a, app, log, meter }),
    createUpgrade(acp, doors, guarding),
    config.a2a?.grpc === false
      ? undefined
      : openGrpc({ ...guarding, ...doors, a2a, log, meter, clock, isReady }),
  )
  const hide = showAddress(data, `ws://${reachable(host)}:${port}${ACP_PATH}`, auth.ownerToken)
  log('debug', 'serving', { url, data, agents: agents.map(({ name }) => name) })

  async function close(): Promise<void> {
    a2a.close()
    hide()
    await acp.close()
    // The socket stays open while the engine drains, so that reads are answered and new work is
    // refused with `DRAINING`.
    await open.drain()
    await listener.close(CLOSE_GRACE_MS)
    admission.close()
    await auth.close()
    await open.close()
    unwatch()
  }
  let closed: Promise<void> | undefined
  return {
    url,
    engine,
    port,
    data,
    tasksIn: placeOf(store),
    acp,
    close() {
      closed ??= close()
      return closed
    },
  }
}

function appOf(
  { engine, deps: { log }, lost, metrics }: OpenEngine,
  acp: AcpMount,
  {
    url,
    traceUrl,
    signIn,
  }: { readonly url: string; readonly traceUrl: string | undefined } & Pick<Auth, 'signIn'>,
) {
  return createApp({
    engine,
    acp,
    log,
    url,
    traceUrl,
    signIn,
    lost,
    identityOf: identityOfRequest,
    metrics: ({ tenant, anyTenant }) => metrics(anyTenant === true ? undefined : tenant),
  })
}

/** Host and port of a URL, whose port is left out if it is the usual one. */
function addressIn(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 80}`
}

async function startA2A(
  { engine, deps: { store, clock, ids, log, tracing, meter } }: OpenEngine,
  publicUrl: string,
  data: string,
  config: Partial<A2AConfig>,
  { security, stillValid }: Pick<Auth, 'security' | 'stillValid'>,
): Promise<A2A> {
  const key = await signingKeys(config, data, store, clock.now)
  const watched = { ...(tracing && { tracing }), ...(meter && { meter }) }
  const common = { engine, store, clock, ids, log, publicUrl, security, stillValid, ...watched }
  const a2a = createA2A({ ...common, config, ...key })
  await a2a.start()
  return a2a
}

function toSettings({ port, host, data, store, postgres, config }: ServeOptions): GivenSettings {
  return { port, host, data, store, postgres, config }
}

/** @throws StartError after it has closed the engine */
async function startAuth(...given: Parameters<typeof authFor>): Promise<Auth> {
  try {
    return authFor(...given)
  } catch (error) {
    const [, , , open] = given
    await open.close()
    throw error
  }
}

function authFor(
  given: ServeOptions & { readonly log: Log },
  settings: Settings,
  config: CheckedConfig,
  { engine: { audit }, deps: { store, clock, log } }: OpenEngine,
  url: string,
): Auth {
  const { data, oidcSecret } = settings
  const modes = modesOf(given, settings, config)
  const { authenticate } = given
  return createAuth({ ...config.auth, modes }, authenticate, {
    ...{ data, store, clock, log, audit, url, oidcSecret },
  })
}

function isAuthenticated(given: ServeOptions, settings: Settings, config: CheckedConfig): boolean {
  const { proxy, oidc } = config.auth ?? {}
  if (given.authenticate !== undefined || proxy !== undefined || oidc !== undefined) return true
  return modesOf(given, settings, config).length > 0
}

/**
 * The authentication modes. Flags and options take precedence over the environment, and that over
 * the file.
 */
function modesOf(
  { auth }: ServeOptions,
  settings: Settings,
  config: CheckedConfig,
): readonly AuthMode[] {
  return auth?.modes ?? settings.auth ?? config.auth?.modes ?? []
}

function refuseOpenHost(host: string, safe: boolean): void {
  if (safe || isLoopback(host)) return
  const text = `${host} can be reached from other machines, and there is no authentication. Use 127.0.0.1, or --auth keys, or --insecure if every machine there may use your agents.`
  throw new StartError(text)
}
