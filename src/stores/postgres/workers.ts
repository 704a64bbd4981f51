/**
 * Leases of processes and duties, by the database's clock. A lease that ran out can never be
 * renewed: both renewing a lease and finding that it has run out lock its row before they compare
 * the time.
 */
import type { Json } from '../../core/values/json.ts'
import type { Beat, ClusterStore } from '../../ports/store/cluster.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Database, Row } from './connection/database.ts'

type Workers = Pick<
  ClusterStore,
  'registerWorker' | 'heartbeat' | 'removeWorker' | 'workers' | 'takeDuty' | 'pruneDuties'
>

/**
 * Selects the workers whose lease has run out. A worker whose row is locked is left out, because it
 * may be renewing its lease.
 */
export const deadWorkers = (schema: string): string =>
  `SELECT id FROM ${schema}.workers WHERE lease_until <= ${schema}.clock_1() FOR UPDATE SKIP LOCKED`

/** @param leases a connection of its own, so that a heartbeat never waits behind other statements */
export function createWorkers(db: Database, leases: Database): Workers {
  const s = db.schema
  const clock = `${s}.clock_1()`
  const millis = (instant: string): string => `extract(epoch FROM ${instant})::float8 * 1000`
  async function giveBack(name: string, workerId: string): Promise<boolean> {
    const given = [toText(name), toText(workerId)]
    const text = `DELETE FROM ${s}.duties WHERE name = $1 AND worker_id = $2 RETURNING 1`
    return (await db.write(text, given)).length === 1
  }

  return {
    async registerWorker({ id, agents }, leaseMs) {
      const [row] = await leases.write(`SELECT now, hold_epoch FROM ${s}.register_1($1, $2, $3)`, [
        toText(id),
        agents.map(toText),
        leaseMs,
      ])
      return toBeat(row)
    },
    async heartbeat(workerId, leaseMs, note) {
      const [row] = await leases.write(`SELECT now, hold_epoch FROM ${s}.beat_1($1, $2, $3)`, [
        toText(workerId),
        leaseMs,
        JSON.stringify(note),
      ])
      return row && toBeat(row)
    },
    async removeWorker(workerId) {
      await db.write(`DELETE FROM ${s}.workers WHERE id = $1`, [toText(workerId)])
    },
    async workers() {
      const rows = await db.read(
        `WITH dead AS (${deadWorkers(s)})
         SELECT id, agents, id NOT IN (SELECT id FROM dead) AS alive,
           ${millis('lease_until')} AS lease_until, note
         FROM ${s}.workers ORDER BY id`,
      )
      return rows.map((row) => ({
        id: fromText(String(row['id'])),
        agents: (row['agents'] as readonly string[]).map(fromText),
        alive: row['alive'] === true,
        leaseUntil: Number(row['lease_until']),
        note: JSON.parse(String(row['note'])) as Json,
      }))
    },
    async takeDuty(name, workerId, forMs) {
      if (forMs === 0) return giveBack(name, workerId)
      const rows = await db.write(
        `INSERT INTO ${s}.duties AS d (name, worker_id, until)
         VALUES ($1, $2, ${clock} + $3 * interval '1 ms')
         ON CONFLICT (name) DO UPDATE SET worker_id = excluded.worker_id, until = excluded.until
         WHERE d.worker_id = excluded.worker_id OR d.until <= ${clock}
         RETURNING 1`,
        [toText(name), toText(workerId), forMs],
      )
      return rows.length === 1
    },
    async pruneDuties(limit) {
      const rows = await db.write(
        `WITH past AS (
           SELECT name FROM ${s}.duties WHERE until <= ${clock} LIMIT $1 FOR UPDATE SKIP LOCKED)
         DELETE FROM ${s}.duties d USING past WHERE d.name = past.name RETURNING 1`,
        [limit],
      )
      return rows.length
    },
  }
}

function toBeat(row: Row | undefined): Beat {
  return { now: Number(row?.['now']), holdEpoch: Number(row?.['hold_epoch']) }
}
