/**
 * Writes the address of the process that owns a data directory to a file in it. A process that
 * finds the directory locked connects to this address. With authentication, the second line is a
 * token that only the owner of the directory can read. A stale file is harmless: it is read only
 * while the directory is locked, and the process that takes the lock deletes it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'lull.address'

/** @returns a function that removes the file */
export function showAddress(data: string, url: string, token?: string): () => void {
  const file = join(data, FILE)
  const lines = token === undefined ? [url] : [url, token]
  try {
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // The server works without the file, but other processes cannot attach.
  }
  return () => hideAddress(data)
}

export function hideAddress(data: string): void {
  rmSync(join(data, FILE), { force: true })
}

export interface Address {
  readonly url: string
  /** The token with which a process of the owner authenticates. */
  readonly token?: string | undefined
}

export function readAddress(data: string): Address | undefined {
  try {
    const [url = '', token] = readFileSync(join(data, FILE), 'utf8').trim().split('\n')
    return { url, token }
  } catch {
    return undefined
  }
}

/**
 * The address at which to reach a server that listens on `host`. The unspecified address becomes
 * loopback.
 */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
