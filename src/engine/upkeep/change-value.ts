import type { Json } from '../../core/values/json.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'

/** Of those that change one value at once, one is first each time. So many are never ahead of one. */
const ATTEMPTS = 1_000

/**
 * Changes a value that other processes change too. No change is lost, however long a process takes. `change` is called
 * again when another change came first, and may find that its own was written.
 * @param change undefined: there is nothing to change
 * @returns false when there was nothing to change
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
 * Reads, changes and writes with a compare-and-set, until no other change comes in between.
 * @param attempt undefined: another change came first
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
