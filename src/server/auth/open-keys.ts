/** Opens the API keys of a data directory or of a database, for a process that is not the server. */
import { openStore } from '../open-store.ts'
import { type GivenSettings, readSettings } from '../settings.ts'
import { chooseStore } from '../store-choice.ts'
import { systemClock } from '../system/clock.ts'
import { createKeyFile } from './key-file.ts'
import type { KeyStore } from './key-store.ts'
import { createSharedKeys } from './shared-keys.ts'

/** Runs the work with the keys, and closes what was opened for it. */
export async function withKeys<T>(
  given: GivenSettings,
  work: (keys: KeyStore) => Promise<T>,
): Promise<T> {
  const { data, stores } = readSettings(given)
  const choice = chooseStore(stores, data)
  if (choice.kind !== 'postgres') return work(createKeyFile(data))
  const store = await openStore(choice, () => undefined)
  try {
    const { cluster } = store
    return await work(
      cluster === undefined
        ? createKeyFile(data)
        : createSharedKeys(store, cluster, systemClock.now),
    )
  } finally {
    await store.close()
  }
}
