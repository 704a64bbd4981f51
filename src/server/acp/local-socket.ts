/**
 * A Unix socket in the data directory, for a process that listens on no port. Only the owner of the
 * directory can connect. Through it, a second editor on the same directory uses the engine of the
 * first one.
 */
import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, relative, resolve } from 'node:path'
import { owner } from '../auth/identity.ts'
import { ACP_PATH, type AcpMount } from './acp-mount.ts'
import { takeUpgrades } from './upgrades.ts'

export interface LocalSocket {
  readonly url: string
  /** The number of open connections. */
  readonly connections: () => number
  /** Resolves when no connection is open. */
  readonly empty: () => Promise<void>
  close(): void
}

/** What the address of a local socket begins with. A server has another one. */
export const LOCAL_URL = 'ws+unix:'

/** How long connections may stay open after `close`. */
const CLOSE_GRACE_MS = 1_000

/** The longest path of a socket that every system accepts. */
const MAX_PATH_BYTES = 100

/** Undefined if the path of the directory is too long for a socket. */
export async function listenLocally(data: string, acp: AcpMount): Promise<LocalSocket | undefined> {
  const path = socketPath(data)
  if (path === undefined) return undefined
  const server = createServer((_, response) => {
    response.writeHead(426).end()
  })
  let open = 0
  let emptied: () => void = () => undefined
  const cutUpgraded = takeUpgrades(server, (request, socket, head) => {
    open++
    socket.on('close', () => {
      open--
      if (open === 0) emptied()
    })
    acp.upgrade(request, socket, head, owner)
    return true
  })
  if (process.platform !== 'win32') rmSync(path, { force: true })
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    server.listen(path, done)
  })
  if (process.platform !== 'win32') chmodSync(path, 0o600)
  return {
    url: `${LOCAL_URL}${resolve(path)}:${ACP_PATH}`,
    connections: () => open,
    empty: () =>
      open === 0
        ? Promise.resolve()
        : new Promise((done) => {
            emptied = done
          }),
    close() {
      // Unreferenced, so that the timer does not keep the process alive.
      const cut = setTimeout(cutUpgraded, CLOSE_GRACE_MS).unref()
      server.close(() => clearTimeout(cut))
      server.closeAllConnections()
    },
  }
}

function socketPath(data: string): string | undefined {
  const whole = resolve(data)
  if (process.platform === 'win32') {
    const name = createHash('sha256').update(whole.toLowerCase()).digest('hex').slice(0, 32)
    return `\\\\.\\pipe\\lull-${name}`
  }
  const file = join(whole, 'lull.sock')
  const near = relative(process.cwd(), file)
  const shorter = near.length < file.length ? near : file
  return Buffer.byteLength(shorter) > MAX_PATH_BYTES ? undefined : shorter
}
