import type { Json } from '../../core/json.ts'

/** Small durable values of the engine, such as the position up to which events were dispatched. */
export interface KeyValueStore {
  getValue(name: string): Promise<Json | undefined>
  setValue(name: string, value: Json): Promise<void>
}
