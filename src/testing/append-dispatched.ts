import type { Store } from '../ports/store.ts'

/**
 * Appends events and marks them as offered to every task. A shared store removes only such events.
 */
export async function appendDispatched(
  store: Pick<Store, 'appendEvents' | 'cluster'>,
  ...append: Parameters<Store['appendEvents']>
): ReturnType<Store['appendEvents']> {
  const stored = await store.appendEvents(...append)
  await store.cluster?.markDispatched(stored.map(({ pos }) => pos))
  return stored
}
