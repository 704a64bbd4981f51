import type { Json } from '../../core/values/json.ts'

/** Small durable values of the engine, such as the position up to which events were dispatched. */
export interface KeyValueStore {
  getValue(name: string): Promise<Json | undefined>
  setValue(name: string, value: Json): Promise<void>
  /**
   * Writes the value if the stored one is `before`; undefined means that there is none. False: it is another one, and
   * nothing was written by this call. When the connection was lost, an earlier attempt may have written it.
   */
  replaceValue(name: string, before: Json | undefined, after: Json): Promise<boolean>
}
