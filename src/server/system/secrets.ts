/**
 * Keys that a process signs with. They are stored in the data directory, or in a store that several
 * processes share.
 */

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { changeValue } from '../../engine/upkeep/change-value.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { Store } from '../../ports/store.ts'

export type SecretName = 'receipt.key' | 'push.key' | 'session.key'

export interface SecretPlace {
  /** The data directory. */
  readonly data: string
  readonly store?: (KeyValueStore & Pick<Store, 'cluster'>) | undefined
}

/** The name of the value that has a secret in a shared store, in base64. */
export const sharedSecretName = (name: SecretName): string => `secrets/${name}`

/** Replaces the secret. Running processes use the former one until they are restarted. */
export async function replaceSecret(
  { data, store }: SecretPlace,
  name: SecretName,
  secret: Buffer,
): Promise<void> {
  if (store?.cluster === undefined) writeSecret(join(data, name), secret)
  else await store.setValue(sharedSecretName(name), secret.toString('base64'))
}

/** The stored secret. Undefined if there is none. */
export async function knownSecret(
  { data, store }: SecretPlace,
  name: SecretName,
): Promise<Buffer | undefined> {
  if (store?.cluster === undefined) return readSecret(join(data, name))
  const text = await store.getValue(sharedSecretName(name))
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
}

/** Reads the secret, or creates it. In a shared store it is created once for all processes. */
export async function secretIn(
  place: SecretPlace,
  name: SecretName,
  make: () => Buffer,
): Promise<Buffer> {
  const { data, store } = place
  const path = join(data, name)
  if (store?.cluster === undefined) return keptSecret(path, make)
  const known = await knownSecret(place, name)
  if (known !== undefined) return known
  const made = readSecret(path) ?? make()
  // Another process may have stored one meanwhile, which then counts.
  await changeValue(store, sharedSecretName(name), (kept) =>
    typeof kept === 'string' ? undefined : made.toString('base64'),
  )
  return (await knownSecret(place, name)) ?? made
}

/** Reads the secret in the directory, or creates it, readable by its owner alone. The caller must have locked the directory. */
function keptSecret(path: string, make: () => Buffer): Buffer {
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
function writeSecret(path: string, secret: Buffer): void {
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
