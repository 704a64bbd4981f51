/**
 * Reads what a data directory has beside its database: signing keys and API keys. A shared store
 * has them as values.
 */
import { join } from 'node:path'
import type { MovedRow } from '../../ports/store/moving.ts'
import { createKeyFile } from '../auth/key-file.ts'
import { SHARED_KEYS, SHARED_KEYS_USED } from '../auth/shared-keys.ts'
import { readSecret } from '../system/secret-file.ts'
import { type SecretName, sharedSecretName } from '../system/secrets.ts'

const names: readonly SecretName[] = ['receipt.key', 'push.key']

/** The secrets as rows of the table `key_values`. */
export async function secretRows(data: string): Promise<readonly MovedRow[]> {
  const secrets = names.flatMap((name) => {
    const secret = readSecret(join(data, name))
    return secret === undefined ? [] : [row(sharedSecretName(name), secret.toString('base64'))]
  })
  const keys = createKeyFile(data)
  const list = await keys.list()
  if (list.length === 0) return secrets
  return [...secrets, row(SHARED_KEYS, list), row(SHARED_KEYS_USED, await keys.lastUsed())]
}

function row(name: string, value: unknown): MovedRow {
  return [name, JSON.stringify(value)]
}
