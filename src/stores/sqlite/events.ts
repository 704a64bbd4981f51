import {
  type CloudEvent,
  identityOf,
  namesOf,
  type StoredEvent,
} from '../../core/waiting/cloud-event.ts'
import { fromText, toText } from '../../ports/store/text.ts'
import type { Direct, Store } from '../../ports/store.ts'
import type { Database, Row } from './files/driver.ts'
import type { Transact } from './transaction.ts'

interface Appended {
  readonly pos: number
  readonly fresh: boolean
}

export type Events = Direct<'appendEvents' | 'events' | 'eventPositions'>

export function createEvents(db: Database, transact: Transact): Events {
  const append = createAppend(db)
  const after = createAfter(db)
  // All tenants share one number line. AUTOINCREMENT keeps the highest position ever used, also
  // after that event was removed.
  const last = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'")
  const first = db.prepare('SELECT pos FROM events WHERE tenant = ? ORDER BY pos LIMIT 1')
  return {
    appendEvents: (tenant, events, receivedAt) =>
      transact(() => events.map((event) => append(toText(tenant), event, receivedAt))),
    events: (...query) => after(...query).map(toStoredEvent),
    eventPositions: (tenants) => {
      const newest = Number(last.get()?.['seq'] ?? 0)
      return tenants.map((tenant) => ({
        last: newest,
        oldest: Number(first.get(toText(tenant))?.['pos'] ?? newest + 1),
      }))
    },
  }
}

function createAppend(
  db: Database,
): (tenant: string, event: CloudEvent, receivedAt: number) => Appended {
  const find = db.prepare('SELECT pos FROM events WHERE tenant = ? AND source = ? AND event_id = ?')
  const insert = db.prepare(
    `INSERT INTO events (tenant, source, event_id, type, name, received_at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  return (tenant, event, receivedAt) => {
    const { source, id } = identityOf(event)
    const identity = [tenant, toText(source), toText(id)] as const
    const known = find.get(...identity)
    if (known !== undefined) return { pos: Number(known['pos']), fresh: false }
    const [type = event.type, name] = namesOf(event)
    const { lastInsertRowid } = insert.run(
      ...identity,
      toText(type),
      name === undefined ? null : toText(name),
      receivedAt,
      JSON.stringify(event),
    )
    return { pos: Number(lastInsertRowid), fresh: true }
  }
}

function createAfter(db: Database): (...query: Parameters<Store['events']>) => readonly Row[] {
  const select = (where: string) =>
    db.prepare(`SELECT * FROM events WHERE ${where} pos > ? ORDER BY pos LIMIT ?`)
  const ofTenant = select('tenant = ? AND')
  const ofType = select('tenant = ? AND type = ? AND')
  const ofName = select('tenant = ? AND name = ? AND')

  /**
   * Selects events whose type or name is one of the wanted. Each wanted name reads two ranges,
   * which are merged by position.
   */
  function named(
    tenant: string,
    afterPos: number,
    limit: number,
    names: readonly string[],
  ): readonly Row[] {
    const found = new Map<unknown, Row>()
    for (const name of names) {
      for (const query of [ofType, ofName]) {
        for (const row of query.all(tenant, name, afterPos, limit)) found.set(row['pos'], row)
      }
    }
    return [...found.values()].sort((a, b) => Number(a['pos']) - Number(b['pos'])).slice(0, limit)
  }

  return (tenant, afterPos, limit, names) => {
    const of = toText(tenant)
    if (names === undefined) return ofTenant.all(of, afterPos, limit)
    return named(of, afterPos, limit, names.map(toText))
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
