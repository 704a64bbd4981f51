import type { Json } from '../../core/values/json.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'

/**
 * In each round at least one writer succeeds, so 1,000 failed rounds mean a fault and not
 * contention.
 */
const ATTEMPTS = 1_000

/**
 * Changes a value that other processes change too, without losing any change. `change` is called
 * again if another change came first, and may then find that its own was already written.
 * @param change returns undefined if there is nothing to change
 * @returns false if there was nothing to change
 */
export function changeValue(
  store: Pick<KeyValueStore, 'getValue' | 'replaceValue'>,
  name: string,
  change: (before: Json | undefined) => Json | undefined,
): Promise<boolean> {
  return untilWritten(`value ${name}`, async () => {
    const before = await store.getValue(name)
    const after = change(before)
    if (after === undefined) return false
    return (await store.replaceValue(name, before, after)) || undefined
  })
}

/**
 * Repeats a read, change and compare-and-set until it succeeds.
 * @param attempt resolves with undefined if another change came first
 */
export async function untilWritten<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  for (let left = ATTEMPTS; left > 0; left--) {
    const done = await attempt()
    if (done !== undefined) return done
  }
  throw new Error(`the stored ${what} cannot be changed: it is not as this program writes it`)
}
