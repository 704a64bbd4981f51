/**
 * Serves ACP on stdin and stdout, which is how editors start an agent. The engine runs in this
 * process. With a port the process also serves A2A. If another process owns the data directory,
 * this process only forwards messages to the owner. If that is another agent of an editor and ends,
 * this process takes the directory over, or connects to the one that did. The process ends when its
 * client disconnects. Tasks continue at the next start, or in the owner.
 */

import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { isLullError } from '../../core/errors.ts'
import type { Agent } from '../../engine/author/agent.ts'
import type { Log } from '../../ports/log.ts'
import { withoutLongLines } from '../../protocols/acp/transports/stdio.ts'
import { isLocked } from '../../stores/sqlite/files/directory-lock.ts'
import { loadDriver } from '../../stores/sqlite/files/driver.ts'
import { callerOf, owner } from '../auth/identity.ts'
import { type Address, readAddress, showAddress } from '../http/address-file.ts'
import { openEngine, toStderr } from '../open-engine.ts'
import { StartError } from '../process/start-error.ts'
import { watchStrayErrors } from '../process/stray-errors.ts'
import { startServer } from '../serve.ts'
import { readConfig } from '../settings/config.ts'
import { readSettings } from '../settings/settings.ts'
import {
  chooseStore,
  type PostgresConfig,
  type StoreConfig,
  type StoreKind,
} from '../store/open-store.ts'
import { createLog } from '../system/log.ts'
import { type AcpMount, mountAcp } from './acp-mount.ts'
import { LOCAL_URL, type LocalSocket, listenLocally } from './local-socket.ts'
import { createRelay } from './relay.ts'

export interface StdioOptions {
  readonly agents: readonly Agent[]
  readonly input: Readable
  readonly output: Writable
  /** Also serve A2A on this port; 0 takes a free one. Absent: only a socket in the data directory is open. */
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly data?: string | undefined
  readonly store?: StoreKind | undefined
  readonly postgres?: string | PostgresConfig | undefined
  readonly config?: string | undefined
}

export interface ServingStdio {
  /** The address of A2A, if the process serves it. */
  readonly url?: string
  /** Set if the engine runs in another process: the address of that process. */
  readonly attachedTo?: string
  /** Resolves when no client is left, or with false if the process with the engine ended first. */
  readonly ended: Promise<boolean>
  close(): Promise<void>
}

/**
 * How long a process that shuts down may take, because it waits until running turns reach a
 * boundary.
 */
const LEAVING_MS = 15_000
/** How long a starting process may have its port before it locks its directory. */
const STARTING_MS = 1_000
const RETRY_MS = 100
/** Short, because users often close and reopen editors. */
const DRAIN_MS = 5_000

/** @throws StartError or LullError, each with a message that tells the operator what to do */
export function serveStdio(given: StdioOptions): Promise<ServingStdio> {
  return serveOrAttach(given, attachForGood)
}

type Attach = (given: StdioOptions) => Promise<ServingStdio | undefined>

async function serveOrAttach(given: StdioOptions, attach: Attach): Promise<ServingStdio> {
  const began = performance.now()
  for (;;) {
    try {
      return given.port === undefined ? await serveAlone(given) : await serveWithPort(given)
    } catch (error) {
      const taken = await isTaken(error, given)
      const attached = taken ? await attach(given) : undefined
      if (attached !== undefined) return attached
      // The other process may be shutting down: it removes its address first and unlocks the
      // directory last.
      const patience = taken ? LEAVING_MS : isPortTaken(error) ? STARTING_MS : 0
      if (performance.now() - began >= patience) throw error
      await sleep(RETRY_MS)
    }
  }
}

/**
 * Attaches, and goes on when the owner dies. The directory of a server is left to the server, which its operator starts
 * again.
 */
async function attachForGood(given: StdioOptions): Promise<ServingStdio | undefined> {
  const relay = createRelay(given, reportLong)
  const first = await attachOnce({ ...given, ...relay.upstream() })
  if (first === undefined) return undefined
  relay.start()
  let serving = first

  async function serveToTheEnd(): Promise<boolean> {
    for (;;) {
      const hasLeft = await serving.ended
      if (hasLeft || serving.attachedTo?.startsWith(LOCAL_URL) !== true) return hasLeft
      relay.interrupt()
      serving = await serveOrAttach({ ...given, ...relay.upstream() }, attachOnce)
      await relay.restore()
    }
  }

  return { ...first, ended: serveToTheEnd(), close: () => serving.close() }
}

/** Connects to the process that owns the directory. Undefined if none answers. */
async function attachOnce(given: StdioOptions): Promise<ServingStdio | undefined> {
  const address = readAddress(readSettings(given).data)
  if (address === undefined) return undefined
  try {
    const { ended, close } = await attachStdio(address, given.input, given.output, reportLong)
    return { attachedTo: address.url, ended, close: async () => close() }
  } catch {
    return undefined
  }
}

/**
 * Whether another process owns the data directory. If it also has our port, binding the port fails
 * before the lock is tried. The port may also belong to an unrelated program; then an address in
 * the directory is stale.
 */
async function isTaken(error: unknown, given: StdioOptions): Promise<boolean> {
  if (isLullError(error, 'STORE_LOCKED')) return true
  return isPortTaken(error) && isLocked(await loadDriver(), readSettings(given).data)
}

function isPortTaken(error: unknown): boolean {
  const cause = error instanceof StartError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
}

async function serveWithPort(given: StdioOptions): Promise<ServingStdio> {
  const serving = await startServer(given)
  const { url, close } = serving
  const { closed } = await speak(serving.acp, given)
  return { url, ended: closed.then(() => true), close }
}

async function serveAlone(given: StdioOptions): Promise<ServingStdio> {
  const { agents } = given
  const { data, stores, receiptKey, formerReceiptKeys, trustedReceiptKeys, logLevel, ...settings } =
    readSettings(given)
  const config = readConfig(settings.config)
  const store = chooseStore([...stores, config], data)
  const open = await openEngine({
    agents,
    data,
    store: store.kind,
    postgres: store.postgres,
    receiptKey,
    formerReceiptKeys,
    trustedReceiptKeys,
    log: createLog(toStderr, logLevel),
    options: config.engine,
  })
  const { log } = open.deps
  const acp = mountAcp(open, log, config.acp)
  const unwatch = watchStrayErrors(log)
  const local = await attachable(store, acp, log)
  const hide = local && showAddress(data, local.url)
  const { closed } = await speak(acp, given)
  return {
    // Clients of other processes that attached to this one are served until they disconnect.
    ended: closed.then(() => local?.empty()).then(() => true),
    async close() {
      // Keeps the process alive until it has drained, because without a client no other handle is
      // open.
      const alive = setInterval(() => undefined, LEAVING_MS)
      hide?.()
      local?.close()
      await acp.close()
      await open.close({ drainMs: DRAIN_MS }).finally(() => clearInterval(alive))
      unwatch()
    },
  }
}

/**
 * Opens a socket for processes that find the data directory locked. A database is not locked by one
 * process, so no socket is needed for it.
 */
async function attachable(
  { kind, data }: StoreConfig,
  acp: AcpMount,
  log: Log,
): Promise<LocalSocket | undefined> {
  if (kind === 'postgres') return undefined
  return listenLocally(data, acp).catch((error: unknown) => {
    log('warn', 'other processes cannot attach to this one', { data, error })
    return undefined
  })
}

async function speak(
  mount: AcpMount,
  { input, output }: StdioOptions,
): Promise<{ readonly closed: Promise<void> }> {
  const { stdioStream } = await import('../../protocols/acp/index.ts')
  const acp = await mount.load()
  return acp.connect(stdioStream(output, input, reportLong), { caller: callerOf(owner) })
}

function reportLong(): void {
  createLog(toStderr)('warn', 'a message of the client is too long and was refused')
}

/** The largest message accepted from the other process. */
const MESSAGE_BYTES = 64 * 1024 * 1024

interface Attached {
  /**
   * Resolves when either side has disconnected: true for our client, false for the other process.
   */
  readonly ended: Promise<boolean>
  close(): void
}

/**
 * Connects stdin and stdout to a WebSocket of the process that owns the data directory.
 * @param refused called for each message that is too long. Rejects if no process answers.
 */
export async function attachStdio(
  { url, token }: Address,
  input: Readable,
  output: Writable,
  refused: () => void = () => undefined,
): Promise<Attached> {
  const socket = await openSocket(url, token)
  const bounded = withoutLongLines(input, output, refused)
  const lines = createInterface({ input: bounded, crlfDelay: Number.POSITIVE_INFINITY })
  let over = false

  const ended = new Promise<boolean>((resolve) => {
    socket.on('close', () => resolve(over))
    socket.on('error', () => socket.terminate())
  })
  const close = (): void => {
    over = true
    socket.close()
  }
  lines.on('line', (line) => {
    if (line.trim() === '') return
    bounded.pause()
    socket.send(line, () => bounded.resume())
  })
  lines.on('close', close)
  socket.on('message', (message) => output.write(`${String(message)}\n`))
  return { ended, close }
}

function openSocket(url: string, token: string | undefined): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      maxPayload: MESSAGE_BYTES,
      perMessageDeflate: false,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    socket.once('open', () => resolve(socket))
    socket.once('error', reject)
  })
}
