import type { Json } from '../../core/json.ts'

/** Small values of the engine by name, as JSON. */
export interface KeyValues {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
  replace(name: string, before: Json | undefined, after: Json): boolean
}

export function createKeyValues(): KeyValues {
  const values = new Map<string, string>()
  return {
    get(name) {
      const text = values.get(name)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    },
    set(name, value) {
      values.set(name, JSON.stringify(value))
    },
    replace(name, before, after) {
      if (values.get(name) !== (before === undefined ? undefined : JSON.stringify(before))) {
        return false
      }
      values.set(name, JSON.stringify(after))
      return true
    },
  }
}
