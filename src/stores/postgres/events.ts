import {
  type CloudEvent,
  identityOf,
  namesOf,
  type StoredEvent,
} from '../../core/waiting/cloud-event.ts'
import { type ClusterStore, RESERVED_MS } from '../../ports/store/cluster.ts'
import type { EventKey, EventPositions } from '../../ports/store/events.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database, Row } from './connection/database.ts'
import { joined } from './connection/joined-reads.ts'
import { joinedByTenant, type Lanes } from './connection/lanes.ts'

type Events = Pick<Store, 'appendEvents' | 'events' | 'eventPositions'>

type Stored = Awaited<ReturnType<Store['appendEvents']>>[number]

interface Sent {
  readonly event: CloudEvent
  readonly receivedAt: number
}

export function createEvents(db: Database, lanes: Lanes): Events {
  const s = db.schema
  const columns = 'e.pos, e.tenant, e.received_at, e.body'
  const append = joinedByTenant<Sent, Stored>(lanes, async (tenant, sent) => {
    const texts = sent.map(({ event, receivedAt }) => {
      const [type = event.type, name] = namesOf(event)
      const { source, id } = identityOf(event)
      const named = name === undefined ? null : toText(name)
      return [receivedAt, toText(source), toText(id), toText(type), named, JSON.stringify(event)]
    })
    const arrays = [0, 1, 2, 3, 4, 5].map((n) => texts.map((values) => values[n]))
    const [times, ...rest] = arrays
    const rows = await db.writeOnce(
      `SELECT pos, fresh FROM ${s}.append_events_1($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      (again) => [toText(tenant), times, again, RESERVED_MS, ...rest],
    )
    return rows.map((row) => ({ pos: Number(row['pos']), fresh: row['fresh'] === true }))
  })
  const positions = joined<string, EventPositions>(async (tenants) => {
    const rows = await db.read(
      `SELECT coalesce(p.pos, 0) AS last, (
         SELECT e.pos FROM ${s}.events e WHERE e.tenant = u.tenant ORDER BY e.pos LIMIT 1) AS oldest
       FROM unnest($1::text[]) WITH ORDINALITY AS u (tenant, o)
       LEFT JOIN ${s}.event_positions p ON p.tenant = u.tenant ORDER BY u.o`,
      [tenants.map(toText)],
    )
    return rows.map(({ last, oldest }) => ({
      last: Number(last),
      oldest: oldest === null ? Number(last) + 1 : Number(oldest),
    }))
  })
  return {
    appendEvents: (tenant, events, receivedAt) =>
      append(
        tenant,
        events.map((event) => ({ event, receivedAt })),
      ),
    async events(tenant, afterPos, limit, names) {
      const of = toText(tenant)
      const rows =
        names === undefined
          ? await db.read(
              `SELECT ${columns} FROM ${s}.events e WHERE e.tenant = $1 AND e.pos > $2 ORDER BY e.pos LIMIT $3`,
              [of, afterPos, limit],
            )
          : await db.read(named(s, columns), [of, afterPos, limit, names.map(toText)])
      return rows.map(toStoredEvent)
    },
    eventPositions: (tenants) => Promise.all(tenants.map(positions)),
  }
}

/**
 * Selects events whose type or name is one of the wanted. Each wanted name reads two ranges, which
 * are merged by position.
 */
function named(s: string, columns: string): string {
  const range = (column: string): string =>
    `(SELECT ${columns} FROM ${s}.events e WHERE e.tenant = $1 AND e.${column} = wanted.name AND e.pos > $2
      ORDER BY e.pos LIMIT $3)`
  return `SELECT DISTINCT ${columns} FROM unnest($4::text[]) AS wanted (name)
    CROSS JOIN LATERAL (${range('type')} UNION ALL ${range('name')}) AS e
    ORDER BY e.pos LIMIT $3`
}

/** Events that no process has offered to tasks. Reading them reserves them. */
export function createUndispatchedEvents(
  db: Database,
): Pick<ClusterStore, 'undispatchedEvents' | 'reserveEvents' | 'markDispatched'> {
  const s = db.schema
  const keysOf = (events: readonly EventKey[]) => [
    events.map(({ tenant }) => toText(tenant)),
    events.map(({ pos }) => pos),
  ]
  const given = 'unnest($1::text[], $2::bigint[]) AS given (tenant, pos)'
  return {
    undispatchedEvents: async (limit) =>
      (
        await db.write(
          `WITH clock AS MATERIALIZED (SELECT ${s}.clock_1() AS now),
           found AS (
             SELECT tenant, pos FROM ${s}.undispatched_events WHERE hidden_until <= (SELECT now FROM clock)
             ORDER BY tenant, pos LIMIT $1 FOR UPDATE SKIP LOCKED),
           reserved AS (
             UPDATE ${s}.undispatched_events u SET hidden_until = (SELECT now FROM clock) + $2 * interval '1 ms'
             FROM found WHERE u.tenant = found.tenant AND u.pos = found.pos RETURNING u.tenant, u.pos)
           SELECT e.pos, e.tenant, e.received_at, e.body
           FROM reserved JOIN ${s}.events e ON e.tenant = reserved.tenant AND e.pos = reserved.pos
           ORDER BY e.tenant, e.pos`,
          [limit, RESERVED_MS],
        )
      ).map(toStoredEvent),
    async reserveEvents(events) {
      await db.write(
        `UPDATE ${s}.undispatched_events u SET hidden_until = clock.now + $3 * interval '1 ms'
         FROM ${given}, (SELECT ${s}.clock_1() AS now OFFSET 0) AS clock
         WHERE u.tenant = given.tenant AND u.pos = given.pos`,
        [...keysOf(events), RESERVED_MS],
      )
    },
    async markDispatched(events) {
      await db.write(
        `DELETE FROM ${s}.undispatched_events u USING ${given} WHERE u.tenant = given.tenant AND u.pos = given.pos`,
        keysOf(events),
      )
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
