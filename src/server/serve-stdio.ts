/**
 * ACP on stdin and stdout, as editors start it. The engine is this process's own, with A2A beside it where a port is
 * given; where another process has the data directory already, this one is only the way to it. It ends with its client,
 * and tasks go on at the next start, or in the process that has them.
 */
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLullError } from '../core/errors.ts'
import type { Agent } from '../engine/agent.ts'
import { isLocked } from '../stores/sqlite/directory-lock.ts'
import { loadDriver } from '../stores/sqlite/driver.ts'
import { type AcpMount, mountAcp } from './acp-mount.ts'
import { readAddress, showAddress } from './address-file.ts'
import { attachStdio } from './attach-stdio.ts'
import { anybody } from './caller.ts'
import { readConfig } from './config.ts'
import { listenLocally } from './local-socket.ts'
import { openEngine, toStderr } from './open-engine.ts'
import type { StoreKind } from './open-store.ts'
import { startServer } from './serve.ts'
import { readSettings } from './settings.ts'
import { StartError } from './start-error.ts'
import { chooseStore, type PostgresConfig } from './store-choice.ts'
import { watchStrayErrors } from './stray-errors.ts'
import { createLog } from './system/log.ts'

export interface StdioOptions {
  readonly agents: readonly Agent[]
  readonly input: Readable
  readonly output: Writable
  /** Serve A2A there too; 0 takes a free one. Absent: nothing listens but a socket in the data directory. */
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly data?: string | undefined
  readonly store?: StoreKind | undefined
  readonly postgres?: string | PostgresConfig | undefined
  readonly config?: string | undefined
}

export interface ServingStdio {
  /** Where A2A is served, if it is. */
  readonly url?: string
  /** The engine is in another process, at this address. */
  readonly attachedTo?: string
  /** Resolves when there is nobody left to serve; false when the engine went away first. */
  readonly ended: Promise<boolean>
  close(): Promise<void>
}

/** A process that is about to leave may take this long: it lets running turns come to a boundary. */
const LEAVING_MS = 15_000
/** One that is about to start has its port this long, at most, before it has its directory. */
const STARTING_MS = 1_000
const RETRY_MS = 100
/** Who closed an editor does not want to wait for long, and who opens the next one neither. */
const DRAIN_MS = 5_000

/** @throws StartError or LullError, each with a sentence an operator can act on */
export async function serveStdio(given: StdioOptions): Promise<ServingStdio> {
  const began = Date.now()
  for (;;) {
    try {
      return given.port === undefined ? await serveAlone(given) : await serveWithPort(given)
    } catch (error) {
      const taken = await isTaken(error, given)
      const attached = taken ? await attach(given) : undefined
      if (attached !== undefined) return attached
      // Whoever has it hides its address first and lets go of it last.
      const patience = taken ? LEAVING_MS : isPortTaken(error) ? STARTING_MS : 0
      if (Date.now() - began >= patience) throw error
      await sleep(RETRY_MS)
    }
  }
}

/** Undefined where nobody answers. */
async function attach(given: StdioOptions): Promise<ServingStdio | undefined> {
  const url = readAddress(readSettings(given).data)
  if (url === undefined) return undefined
  try {
    const { ended, close } = await attachStdio(url, given.input, given.output)
    return { attachedTo: url, ended, close: async () => close() }
  } catch {
    return undefined
  }
}

/**
 * The directory is another's. Its server may be in the way of ours before that is seen; but what has the port may as
 * well be anything else, and then an address in the directory is of one that is gone.
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
  const { data, stores, receiptKey, logLevel, ...settings } = readSettings(given)
  const config = readConfig(settings.config)
  const store = chooseStore([...stores, config], data)
  const log = createLog(toStderr, logLevel)
  const open = await openEngine({
    agents,
    data,
    store: store.kind,
    postgres: store.postgres,
    receiptKey,
    log,
    options: config.engine,
  })
  const acp = mountAcp(open, log, config.acp)
  const unwatch = watchStrayErrors(log)
  const local = await listenLocally(data, acp).catch((error: unknown) => {
    log('warn', 'other processes cannot attach to this one', { data, error })
    return undefined
  })
  const hide = local && showAddress(data, local.url)
  const { closed } = await speak(acp, given)
  return {
    // Whoever has attached meanwhile is served to the end.
    ended: closed.then(() => local?.empty()).then(() => true),
    async close() {
      // Without its client nothing else keeps the process from ending before its turns do.
      const alive = setInterval(() => undefined, LEAVING_MS)
      hide?.()
      local?.close()
      await acp.close()
      await open.close({ drainMs: DRAIN_MS }).finally(() => clearInterval(alive))
      unwatch()
    },
  }
}

async function speak(
  mount: AcpMount,
  { input, output }: StdioOptions,
): Promise<{ readonly closed: Promise<void> }> {
  const { stdioStream } = await import('../protocols/acp/index.ts')
  const acp = await mount.load()
  return acp.connect(stdioStream(output, input), { caller: anybody })
}
