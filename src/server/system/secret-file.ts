/** Secrets in the data directory. Each is created once, and readable by its owner alone. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Reads the secret, or creates it. The caller must have locked the directory. */
export function keptSecret(path: string, make: () => Buffer): Buffer {
  const known = readSecret(path)
  if (known !== undefined) return known
  const secret = make()
  writeSecret(path, secret)
  return secret
}

export function readSecret(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes atomically, so that a process that dies here leaves no incomplete key. */
export function writeSecret(path: string, secret: Buffer): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(file, secret)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}
