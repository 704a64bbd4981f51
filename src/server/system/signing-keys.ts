import type { Store } from '../../ports/store.ts'
import type { A2AConfig, A2AOptions } from '../../protocols/a2a/index.ts'
import { publishKey } from './published-keys.ts'
import { pushKey } from './push-key.ts'

/** The keys of an A2A adapter that signs webhook deliveries or cards. Empty if it signs neither. */
export async function signingKeys(
  config: Partial<A2AConfig> | undefined,
  data: string,
  store: Store,
  now: () => number,
): Promise<Pick<A2AOptions, 'pushKey' | 'publishedKeys'>> {
  if (config?.pushSign !== true && config?.signCards !== true) return {}
  const key = await pushKey({ data, store })
  return { pushKey: key, publishedKeys: await publishKey(store, key, now) }
}
