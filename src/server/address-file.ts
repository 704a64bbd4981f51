/**
 * Where the process that has a data directory can be reached, kept beside its lock: whoever finds the directory locked
 * can go there instead. A file that outlived its process is harmless: nobody looks at it while the lock is free, and who takes the lock deletes it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'lull.address'

/** @returns how to take it away again */
export function showAddress(data: string, url: string): () => void {
  const file = join(data, FILE)
  try {
    writeFileSync(file, `${url}\n`, { mode: 0o600 })
  } catch {
    // Only those who would attach miss it.
  }
  return () => hideAddress(data)
}

export function hideAddress(data: string): void {
  rmSync(join(data, FILE), { force: true })
}

export function readAddress(data: string): string | undefined {
  try {
    return readFileSync(join(data, FILE), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** The address to call for one to listen on: "any" is no place to go to. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
