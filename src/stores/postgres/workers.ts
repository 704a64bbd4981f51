/** Leases of processes and duties, by the database's clock. A lease that ran out never comes back. */
import type { Json } from '../../core/json.ts'
import type { Beat, ClusterStore } from '../../ports/store/cluster.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Database, Row } from './database.ts'

type Workers = Pick<
  ClusterStore,
  'registerWorker' | 'heartbeat' | 'removeWorker' | 'workers' | 'takeDuty'
>

export function createWorkers(db: Database): Workers {
  const s = db.schema
  const clock = `${s}.clock_1()`
  const now = `extract(epoch FROM ${clock})::float8 * 1000 AS now`
  return {
    async registerWorker({ id, agents }, leaseMs) {
      const [row] = await db.write(
        `INSERT INTO ${s}.workers (id, agents, lease_until, note)
         VALUES ($1, $2, ${clock} + $3 * interval '1 ms', 'null')
         ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until RETURNING ${now}`,
        [toText(id), agents.map(toText), leaseMs],
      )
      return toBeat(row)
    },
    async heartbeat(workerId, leaseMs, note) {
      const [row] = await db.write(
        `UPDATE ${s}.workers SET lease_until = ${clock} + $2 * interval '1 ms', note = $3
         WHERE id = $1 AND lease_until > ${clock} RETURNING ${now}`,
        [toText(workerId), leaseMs, JSON.stringify(note)],
      )
      return row && toBeat(row)
    },
    async removeWorker(workerId) {
      await db.write(`DELETE FROM ${s}.workers WHERE id = $1`, [toText(workerId)])
    },
    async workers() {
      const rows = await db.read(
        `SELECT id, agents, lease_until > ${clock} AS alive, note FROM ${s}.workers ORDER BY id`,
      )
      return rows.map((row) => ({
        id: fromText(String(row['id'])),
        agents: (row['agents'] as readonly string[]).map(fromText),
        alive: row['alive'] === true,
        note: JSON.parse(String(row['note'])) as Json,
      }))
    },
    async takeDuty(name, workerId, forMs) {
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
  }
}

function toBeat(row: Row | undefined): Beat {
  return { now: Number(row?.['now']) }
}
