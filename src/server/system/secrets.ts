/** Keys that a process signs with. They are kept in the data directory, or in a store that several processes share. */
import { join } from 'node:path'
import type { Store } from '../../ports/store.ts'
import { exclusively } from './exclusively.ts'
import { keptSecret, readSecret, writeSecret } from './secret-file.ts'

export type SecretName = 'receipt.key' | 'push.key'

export interface SecretPlace {
  /** The data directory. */
  readonly data: string
  readonly store?: Pick<Store, 'getValue' | 'setValue' | 'cluster'> | undefined
}

/** The name of the value that keeps a secret in a shared store, in base64. */
export const sharedSecretName = (name: SecretName): string => `secrets/${name}`

/** Replaces the secret. Running processes use the former one until they start again. */
export async function replaceSecret(
  { data, store }: SecretPlace,
  name: SecretName,
  secret: Buffer,
): Promise<void> {
  if (store?.cluster === undefined) writeSecret(join(data, name), secret)
  else await store.setValue(sharedSecretName(name), secret.toString('base64'))
}

/** Reads the secret, or creates it. In a shared store it is created once for all processes. */
export async function secretIn(
  { data, store }: SecretPlace,
  name: SecretName,
  make: () => Buffer,
): Promise<Buffer> {
  const path = join(data, name)
  const cluster = store?.cluster
  if (store === undefined || cluster === undefined) return keptSecret(path, make)
  const shared = sharedSecretName(name)
  const read = async (): Promise<Buffer | undefined> => {
    const text = await store.getValue(shared)
    return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
  }
  const known = await read()
  if (known !== undefined) return known
  return exclusively(cluster, shared, async () => {
    const secret = (await read()) ?? readSecret(path) ?? make()
    await store.setValue(shared, secret.toString('base64'))
    return secret
  })
}
