/** Opens the keys in a data directory or a database, for a program that is not the server. */
import type { Store } from '../../ports/store.ts'
import { type GivenSettings, readSettings } from '../settings/settings.ts'
import { chooseStore, openReader, openStore, type StoreConfig } from '../store/open-store.ts'
import { systemClock } from '../system/clock.ts'
import type { SecretPlace } from '../system/secrets.ts'
import { createKeyFile } from './key-file.ts'
import type { KeyStore } from './key-store.ts'
import { createSharedKeys } from './shared-keys.ts'

/** Runs the work with the API keys, and closes what it opened. */
export function withKeys<T>(
  given: GivenSettings,
  work: (keys: KeyStore) => Promise<T>,
): Promise<T> {
  return withSecretPlace(given, (place) => work(keysAt(place)))
}

/** The same for read-only work: the schema of the database is not migrated. */
export function withKeysToRead<T>(
  given: GivenSettings,
  work: (keys: Pick<KeyStore, 'list' | 'lastUsed'>) => Promise<T>,
): Promise<T> {
  return withPlace(given, openReader, (place) => work(keysAt(place)))
}

function keysAt({ data, store }: SecretPlace): KeyStore {
  return store?.cluster === undefined
    ? createKeyFile(data)
    : createSharedKeys(store, systemClock.elapsed)
}

/** Runs the work with access to the keys that the server signs with. */
export function withSecretPlace<T>(
  given: GivenSettings,
  work: (place: SecretPlace) => Promise<T>,
): Promise<T> {
  return withPlace(given, (choice) => openStore(choice, () => undefined), work)
}

async function withPlace<T>(
  given: GivenSettings,
  open: (choice: StoreConfig) => Promise<Store>,
  work: (place: SecretPlace) => Promise<T>,
): Promise<T> {
  const { data, stores } = readSettings(given)
  const choice = chooseStore(stores, data)
  if (choice.kind !== 'postgres') return work({ data })
  const store = await open(choice)
  try {
    return await work({ data, store })
  } finally {
    await store.close()
  }
}
