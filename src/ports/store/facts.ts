import type { Json } from '../../core/json.ts'

/** Small durable values of the engine, such as the position up to which events were dispatched. */
export interface FactStore {
  getFact(name: string): Promise<Json | undefined>
  setFact(name: string, value: Json): Promise<void>
}
