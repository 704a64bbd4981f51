import type { Json } from '../../core/values/json.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import { toText } from '../../ports/store/text.ts'
import type { Direct } from '../../ports/store.ts'
import type { Database } from './files/driver.ts'
import type { Transact } from './transaction.ts'

/** Small durable values of the engine by name. */
export type KeyValues = Direct<keyof KeyValueStore>

export function createKeyValues(db: Database, transact: Transact): KeyValues {
  const select = db.prepare('SELECT value FROM key_values WHERE name = ?')
  const upsert = db.prepare(
    `INSERT INTO key_values (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
  return {
    getValue(name) {
      const row = select.get(toText(name))
      return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Json)
    },
    setValue(name, value) {
      upsert.run(toText(name), JSON.stringify(value))
    },
    replaceValue: (name, before, after) =>
      transact(() => {
        const stored = select.get(toText(name))?.['value']
        if (stored !== (before === undefined ? undefined : JSON.stringify(before))) return false
        upsert.run(toText(name), JSON.stringify(after))
        return true
      }),
  }
}
