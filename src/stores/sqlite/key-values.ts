import type { Json } from '../../core/json.ts'
import type { Database } from './driver.ts'
import { toText } from './text.ts'
import type { Transact } from './transaction.ts'

/** Small durable values of the engine by name. */
export interface KeyValues {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
  replace(name: string, before: Json | undefined, after: Json): boolean
}

export function createKeyValues(db: Database, transact: Transact): KeyValues {
  const select = db.prepare('SELECT value FROM key_values WHERE name = ?')
  const upsert = db.prepare(
    `INSERT INTO key_values (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  return {
    get(name) {
      const row = select.get(toText(name))
      return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Json)
    },
    set(name, value) {
      upsert.run(toText(name), JSON.stringify(value))
    },
    replace: (name, before, after) =>
      transact(() => {
        const stored = select.get(toText(name))?.['value']
        if (stored !== (before === undefined ? undefined : JSON.stringify(before))) return false
        upsert.run(toText(name), JSON.stringify(after))
        return true
      }),
  }
}
