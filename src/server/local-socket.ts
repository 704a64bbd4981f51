/**
 * A way to a process that listens on no port: a socket in its data directory, where only its owner gets. It is how a
 * second editor on the same directory finds the first one's engine.
 */
import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, relative, resolve } from 'node:path'
import { ACP_PATH, type AcpMount } from './acp-mount.ts'
import { takeUpgrades } from './upgrades.ts'

export interface LocalSocket {
  readonly url: string
  /** How many have come by it and are still there. */
  readonly connections: () => number
  /** Resolves when nobody is there any more. */
  readonly empty: () => Promise<void>
  close(): void
}

/** How long those who came by it may take to leave once it is closed. */
const LAST_WORDS_MS = 1_000

/** What every system takes for the name of a socket. */
const LONGEST = 100

/** Undefined where none can be made: the directory's name is too long. */
export async function listenLocally(data: string, acp: AcpMount): Promise<LocalSocket | undefined> {
  const path = socketPath(data)
  if (path === undefined) return undefined
  const server = createServer((_, response) => {
    response.writeHead(426).end()
  })
  let open = 0
  let emptied: () => void = () => undefined
  const cutUpgraded = takeUpgrades(
    server,
    (_, response) => response.writeHead(426).end(),
    (request, socket, head) => {
      open++
      socket.on('close', () => {
        open--
        if (open === 0) emptied()
      })
      acp.upgrade(request, socket, head)
      return true
    },
  )
  if (process.platform !== 'win32') rmSync(path, { force: true })
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    server.listen(path, done)
  })
  if (process.platform !== 'win32') chmodSync(path, 0o600)
  return {
    url: `ws+unix:${resolve(path)}:${ACP_PATH}`,
    connections: () => open,
    empty: () =>
      open === 0
        ? Promise.resolve()
        : new Promise((done) => {
            emptied = done
          }),
    close() {
      // Does not keep the process: only those it cuts off do.
      const cut = setTimeout(cutUpgraded, LAST_WORDS_MS).unref()
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
  return Buffer.byteLength(shorter) > LONGEST ? undefined : shorter
}
