/** Opens the keys of a data directory or of a database, for a process that is not the server. */
import { openStore } from '../open-store.ts'
import { type GivenSettings, readSettings } from '../settings.ts'
import { chooseStore } from '../store-choice.ts'
import { systemClock } from '../system/clock.ts'
import type { SecretPlace } from '../system/secrets.ts'
import { createKeyFile } from './key-file.ts'
import type { KeyStore } from './key-store.ts'
import { createSharedKeys } from './shared-keys.ts'

/** Runs the work with the API keys, and closes what was opened for it. */
export function withKeys<T>(
  given: GivenSettings,
  work: (keys: KeyStore) => Promise<T>,
): Promise<T> {
  return withSecretPlace(given, ({ data, store }) => {
    const cluster = store?.cluster
    return work(
      store === undefined || cluster === undefined
        ? createKeyFile(data)
        : createSharedKeys(store, cluster, systemClock.now),
    )
  })
}

/** Runs the work with the place of the keys that the server signs with. */
export async function withSecretPlace<T>(
  given: GivenSettings,
  work: (place: SecretPlace) => Promise<T>,
): Promise<T> {
  const { data, stores } = readSettings(given)
  const choice = chooseStore(stores, data)
  if (choice.kind !== 'postgres') return work({ data })
  const store = await openStore(choice, () => undefined)
  try {
    return await work({ data, store })
  } finally {
    await store.close()
  }
}
