/** Stores small values by name, and holds. */
import type { Json } from '../../../core/values/json.ts'
import type { ClusterStore } from '../../../ports/store/cluster.ts'
import type { Hold } from '../../../ports/store/holds.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { toText } from '../../../ports/store/text.ts'
import type { Store } from '../../../ports/store.ts'
import type { Database, Value } from '../connection/database.ts'

export function createKeyValues(db: Database): KeyValueStore {
  const s = db.schema
  // With $3 (again), an earlier attempt may already have written the value.
  const insertion = `INSERT INTO ${s}.key_values AS v (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE $3 AND v.value = excluded.value RETURNING 1`
  const change = `UPDATE ${s}.key_values SET value = $2
    WHERE name = $1 AND (value = $4 OR ($3 AND value = $2)) RETURNING 1`
  return {
    async getValue(name) {
      const [row] = await db.read(`SELECT value FROM ${s}.key_values WHERE name = $1`, [
        toText(name),
      ])
      return row === undefined ? undefined : (JSON.parse(String(row['value'])) as Json)
    },
    async setValue(name, value) {
      await db.write(
        `INSERT INTO ${s}.key_values (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        [toText(name), JSON.stringify(value)],
      )
    },
    async replaceValue(name, before, after) {
      const written = await db.writeOnce(before === undefined ? insertion : change, (again) => [
        toText(name),
        JSON.stringify(after),
        again,
        ...(before === undefined ? [] : [JSON.stringify(before)]),
      ])
      return written.length > 0
    },
  }
}

export function createHolds(db: Database): Pick<Store, 'putHold' | 'holds'> {
  const s = db.schema
  return {
    async putHold(hold) {
      await db.write(`SELECT ${s}.put_hold_1($1, $2, $3, $4, $5, NULL)`, columnsOf(hold))
    },
    // Scans the table, because operators make few holds.
    async holds(all = false) {
      const rows = await db.read(
        `SELECT body FROM ${s}.holds WHERE lifted_at IS NULL OR $1 ORDER BY created_at, pos`,
        [all],
      )
      return rows.map((row) => JSON.parse(String(row['body'])) as Hold)
    },
  }
}

/** The tenant whose commits wait for the hold; empty for a hold of all tenants. */
function tenantOf({ scope }: Hold): string {
  return 'tenant' in scope && scope.tenant !== undefined ? toText(scope.tenant) : ''
}

function columnsOf(hold: Hold): readonly Value[] {
  return [tenantOf(hold), toText(hold.id), hold.createdAt, hold.liftedAt, JSON.stringify(hold)]
}

export function createHoldsInEffect(
  db: Database,
): Pick<ClusterStore, 'holdsInEffect' | 'putHoldAt' | 'nextHoldEpoch'> {
  const s = db.schema
  return {
    async putHoldAt(hold, epoch) {
      const [row] = await db.write(`SELECT ${s}.put_hold_1($1, $2, $3, $4, $5, $6) AS written`, [
        ...columnsOf(hold),
        epoch,
      ])
      return row?.['written'] === true
    },
    async nextHoldEpoch() {
      const [row] = await db.write(
        `UPDATE ${s}.counters SET value = value + 1 WHERE name = 'holds' RETURNING value`,
      )
      return Number(row?.['value'])
    },
    async holdsInEffect() {
      const [row] = await db.read(
        `SELECT value AS epoch, ARRAY(
           SELECT body FROM ${s}.holds WHERE lifted_at IS NULL ORDER BY created_at, pos) AS bodies
         FROM ${s}.counters WHERE name = 'holds'`,
      )
      const bodies = (row?.['bodies'] ?? []) as readonly string[]
      return {
        epoch: Number(row?.['epoch'] ?? 0),
        holds: bodies.map((body) => JSON.parse(body) as Hold),
      }
    },
  }
}
