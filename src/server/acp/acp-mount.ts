/**
 * Serves ACP at `/acp`. It is loaded for the first editor, because the protocol's schemas take half
 * a second to load and most servers never have an editor as a client. If loading fails, it is tried
 * again for the next editor. If Node could not read a module, it remembers that, and only a restart
 * helps; the answer says so, and the rest of the server works.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Log } from '../../ports/log.ts'
import type { Acp, AcpConfig } from '../../protocols/acp/index.ts'
import { callerOf, type Identity } from '../auth/identity.ts'
import { refusal } from '../http/refusals.ts'
import type { OpenEngine } from '../open-engine.ts'
import { version } from '../settings/version.ts'
import type { SocketDoors } from './acp-sockets.ts'

export const ACP_PATH = '/acp'

/** The stored list of sessions that keep reminders for their next task (`waiting-reminders.ts`). */
const WAITING_REMINDERS = 'acp/waiting-reminders'

export interface AcpMount {
  /** Loads ACP at once if there is work to do before an editor connects. */
  start(): Promise<void>
  load(): Promise<Acp>
  fetch(request: Request, identity: Identity): Promise<Response>
  /**
   * Takes over the socket.
   * @param doors absent for the owner of the process, who has no limits
   */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    identity: Identity,
    doors?: SocketDoors,
  ): void
  close(): Promise<void>
}

export function mountAcp(
  { engine, deps }: OpenEngine,
  log: Log,
  config: Partial<AcpConfig> = {},
): AcpMount {
  let loaded: Promise<Acp> | undefined
  let closed = false

  async function make(): Promise<Acp> {
    const { createAcp } = await import('../../protocols/acp/index.ts')
    const { store, clock, ids, tracing } = deps
    const traced = tracing === undefined ? {} : { tracing }
    const name = engine.agents.keys().next().value ?? 'lull'
    const agentInfo = { name, version }
    const cwd = process.cwd()
    const acp = createAcp({ engine, store, clock, ids, log, agentInfo, cwd, config, ...traced })
    // A first connection during the shutdown of the server must get the same answer as a later one.
    if (closed) await acp.close()
    return acp
  }

  function load(): Promise<Acp> {
    loaded ??= make().catch((error: unknown) => {
      loaded = undefined
      log('error', 'ACP could not be loaded', { error })
      throw error
    })
    return loaded
  }

  return {
    async start() {
      const waiting = await deps.store.getValue(WAITING_REMINDERS)
      if (Array.isArray(waiting) && waiting.length > 0) await load()
    },
    load,
    async fetch(request, identity) {
      const acp = await load().catch(() => undefined)
      return acp === undefined ? notLoaded() : acp.fetch(request, { caller: callerOf(identity) })
    },
    upgrade(request, socket, head, identity, doors) {
      const refused = (error: unknown): void => {
        log('error', 'a WebSocket could not be opened', { error })
        socket.destroy()
      }
      Promise.all([load(), import('./acp-sockets.ts')])
        .then(([acp, { accept, limitsOf }]) => {
          if (socket.destroyed) return
          const caller = callerOf(identity)
          const limited = doors && limitsOf(identity, doors)
          const prepared = acp.upgrade({ caller, ...(limited && { limits: limited.ofMessages }) })
          accept(prepared, request, socket, head, limited?.frames)
        })
        .catch(refused)
    },
    async close() {
      closed = true
      const acp = await loaded?.catch(() => undefined)
      await acp?.close()
    },
  }
}

function notLoaded(): Response {
  const text =
    'ACP could not be loaded; the log of the server says why. Restart it when that is cured'
  return refusal(503, 'ACP_UNAVAILABLE', text)
}
