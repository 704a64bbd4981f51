import type { Json } from '../../core/values/json.ts'

/** Small durable values of the engine, such as the position up to which events were dispatched. */
export interface KeyValueStore {
  getValue(name: string): Promise<Json | undefined>
  setValue(name: string, value: Json): Promise<void>
  /**
   * Writes the value if the stored one equals `before` (undefined: none is stored). False: it does
   * not, and this call wrote nothing. After a lost connection, an earlier attempt of the same call
   * may have written it.
   */
  replaceValue(name: string, before: Json | undefined, after: Json): Promise<boolean>
}
