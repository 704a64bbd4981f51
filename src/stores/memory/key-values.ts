import type { Json } from '../../core/values/json.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { Direct } from '../../ports/store.ts'

/** Small values of the engine by name, as JSON. */
export type KeyValues = Direct<keyof KeyValueStore>

export function createKeyValues(): KeyValues {
  const values = new Map<string, string>()
  return {
    getValue(name) {
      const text = values.get(name)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    },
    setValue(name, value) {
      values.set(name, JSON.stringify(value))
    },
    replaceValue(name, before, after) {
      if (values.get(name) !== (before === undefined ? undefined : JSON.stringify(before))) {
        return false
      }
      values.set(name, JSON.stringify(after))
      return true
    },
  }
}
