import {
  type CloudEvent,
  identityOf,
  namesOf,
  type StoredEvent,
} from '../../core/waiting/cloud-event.ts'
import { type ClusterStore, RESERVED_MS } from '../../ports/store/cluster.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database, Row } from './connection/database.ts'

type Events = Pick<Store, 'appendEvents' | 'events' | 'lastEventPos'>

export function createEvents(db: Database): Events {
  const s = db.schema
  const columns = 'pos, tenant, received_at, body'
  return {
    async appendEvents(tenant, events, receivedAt) {
      const sent = events.map((event) => {
        const [type = event.type, name] = namesOf(event)
        const { source, id } = identityOf(event)
        const texts = [source, id, type].map(toText)
        return [...texts, name === undefined ? null : toText(name), JSON.stringify(event)]
      })
      const arrays = [0, 1, 2, 3, 4].map((n) => sent.map((values) => values[n]))
      const rows = await db.writeOnce(
        `SELECT pos, fresh FROM ${s}.append_events_1($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        (again) => [toText(tenant), receivedAt, again, RESERVED_MS, ...arrays],
      )
      return rows.map((row) => ({ pos: Number(row['pos']), fresh: row['fresh'] === true }))
    },
    async events(tenant, afterPos, limit, names) {
      const of = tenant === undefined ? null : toText(tenant)
      const rows =
        names === undefined
          ? await db.read(
              `SELECT ${columns} FROM ${s}.events WHERE ${of === null ? '$1::text IS NULL' : 'tenant = $1'}
               AND pos > $2 ORDER BY pos LIMIT $3`,
              [of, afterPos, limit],
            )
          : await db.read(of === null ? namedOfAll(s, columns) : namedOfTenant(s, columns), [
              of,
              afterPos,
              limit,
              names.map(toText),
            ])
      return rows.map(toStoredEvent)
    },
    async lastEventPos() {
      const [row] = await db.read(`SELECT value FROM ${s}.counters WHERE name = 'events'`)
      return Number(row?.['value'] ?? 0)
    },
  }
}

/**
 * Selects events whose type or name is one of the wanted. Each wanted name reads two ranges, which
 * are merged by position.
 */
function namedOfTenant(s: string, columns: string): string {
  const range = (column: string): string =>
    `(SELECT ${columns} FROM ${s}.events e WHERE e.tenant = $1 AND e.${column} = wanted.name AND e.pos > $2
      ORDER BY e.pos LIMIT $3)`
  return `SELECT DISTINCT ${columns} FROM unnest($4::text[]) AS wanted (name)
    CROSS JOIN LATERAL (${range('type')} UNION ALL ${range('name')}) AS found
    ORDER BY pos LIMIT $3`
}

/** The same for all tenants. No index covers that, so this query scans from the position on. */
function namedOfAll(s: string, columns: string): string {
  return `SELECT ${columns} FROM ${s}.events WHERE $1::text IS NULL AND pos > $2
    AND (type = ANY ($4) OR name = ANY ($4)) ORDER BY pos LIMIT $3`
}

/** Events that no process has offered to tasks. Reading them reserves them. */
export function createUndispatchedEvents(
  db: Database,
): Pick<ClusterStore, 'undispatchedEvents' | 'reserveEvents' | 'markDispatched'> {
  const s = db.schema
  return {
    undispatchedEvents: async (limit) =>
      (
        await db.write(
          `WITH found AS (
             SELECT pos FROM ${s}.undispatched_events WHERE hidden_until <= ${s}.clock_1()
             ORDER BY pos LIMIT $1 FOR UPDATE SKIP LOCKED),
           reserved AS (
             UPDATE ${s}.undispatched_events u SET hidden_until = ${s}.clock_1() + $2 * interval '1 ms'
             FROM found WHERE u.pos = found.pos RETURNING u.pos)
           SELECT e.pos, e.tenant, e.received_at, e.body
           FROM reserved JOIN ${s}.events e ON e.pos = reserved.pos ORDER BY e.pos`,
          [limit, RESERVED_MS],
        )
      ).map(toStoredEvent),
    async reserveEvents(positions) {
      await db.write(
        `UPDATE ${s}.undispatched_events SET hidden_until = ${s}.clock_1() + $2 * interval '1 ms'
         WHERE pos = ANY ($1::bigint[])`,
        [positions, RESERVED_MS],
      )
    },
    async markDispatched(positions) {
      await db.write(`DELETE FROM ${s}.undispatched_events WHERE pos = ANY ($1::bigint[])`, [
        positions,
      ])
    },
  }
}

function toStoredEvent(row: Row): StoredEvent {
  return {
    pos: Number(row['pos']),
    tenant: fromText(String(row['tenant'])),
    receivedAt: Number(row['received_at']),
    event: JSON.parse(String(row['body'])) as CloudEvent,
  }
}
