import type { Json } from '../core/json.ts'
import type { KeyValueStore } from '../ports/store/key-values.ts'

/**
 * Changes a value that other processes change too. No change is lost, however long a process takes. `change` is called
 * again when another change came first, and may find that its own was written.
 * @param change undefined: there is nothing to change
 * @returns false when there was nothing to change
 */
export async function changeValue(
  store: Pick<KeyValueStore, 'getValue' | 'replaceValue'>,
  name: string,
  change: (before: Json | undefined) => Json | undefined,
): Promise<boolean> {
  for (;;) {
    const before = await store.getValue(name)
    const after = change(before)
    if (after === undefined) return false
    if (await store.replaceValue(name, before, after)) return true
  }
}
