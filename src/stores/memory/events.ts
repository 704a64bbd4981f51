import {
  type CloudEvent,
  identityOf,
  namesOf,
  type StoredEvent,
} from '../../core/waiting/cloud-event.ts'
import type { EventKey, EventPositions } from '../../ports/store/events.ts'
import type { Store } from '../../ports/store.ts'
import type { UsageTotals } from './usage.ts'
import type { Reservations } from './work.ts'

interface Appended {
  readonly pos: number
  readonly fresh: boolean
}

interface Entry {
  readonly pos: number
  readonly tenant: string
  readonly receivedAt: number
  readonly names: readonly string[]
  readonly body: string
}

export interface Events {
  appendEvents(
    tenant: string,
    events: readonly CloudEvent[],
    receivedAt: number,
  ): readonly Appended[]
  events(...query: Parameters<Store['events']>): readonly StoredEvent[]
  eventPositions(tenants: readonly string[]): readonly EventPositions[]
  /** Returns events that were not offered to tasks and are not reserved, and reserves them. */
  undispatched(limit: number): readonly StoredEvent[]
  reserve(events: readonly EventKey[]): void
  markDispatched(events: readonly EventKey[]): void
  pruneEvents(receivedBefore: number, limit: number): number
}

/** @param reservations of events that were not offered to tasks; only a shared store has them */
export function createEvents(usage: UsageTotals, reservations?: Reservations<string>): Events {
  /** Events by identity. A `Map` keeps insertion order, which is the order of positions. */
  const entries = new Map<string, Entry>()
  const undispatched = new Set<string>()
  /** The highest position of each tenant. */
  const last = new Map<string, number>()
  /**
   * The tenant whose number line is used. A store that is not shared has one for all, because the
   * engine keeps one position up to which events were dispatched.
   */
  const lineOf = (tenant: string): string => (reservations === undefined ? '' : tenant)

  return {
    appendEvents(tenant, events, receivedAt) {
      const encoded = events.map((event) => ({
        identity: JSON.stringify([tenant, identityOf(event)]),
        names: namesOf(event),
        body: JSON.stringify(event),
      }))
      return encoded.map(({ identity, names, body }) => {
        const known = entries.get(identity)
        if (known !== undefined) return { pos: known.pos, fresh: false }
        const pos = (last.get(lineOf(tenant)) ?? 0) + 1
        last.set(lineOf(tenant), pos)
        entries.set(identity, { pos, tenant, receivedAt, names, body })
        usage.add(tenant, '', { bytes: Buffer.byteLength(body) })
        if (reservations !== undefined) {
          undispatched.add(placeOf({ tenant, pos }))
          reservations.reserve(placeOf({ tenant, pos }))
        }
        return { pos, fresh: true }
      })
    },
    events: (tenant, afterPos, limit, names) =>
      [...entries.values()]
        .filter((entry) => entry.pos > afterPos && entry.tenant === tenant)
        .filter((entry) => names === undefined || names.some((name) => entry.names.includes(name)))
        .slice(0, limit)
        .map(toStoredEvent),
    eventPositions: (tenants) =>
      tenants.map((tenant) => {
        const newest = last.get(lineOf(tenant)) ?? 0
        const kept = [...entries.values()].find((entry) => entry.tenant === tenant)
        return { last: newest, oldest: kept?.pos ?? newest + 1 }
      }),
    undispatched(limit) {
      const found = [...entries.values()]
        .filter((key) => undispatched.has(placeOf(key)) && reservations?.isFree(placeOf(key)))
        .slice(0, limit)
      for (const key of found) reservations?.reserve(placeOf(key))
      return found.map(toStoredEvent)
    },
    reserve(events) {
      for (const place of events.map(placeOf)) {
        if (undispatched.has(place)) reservations?.reserve(place)
      }
    },
    markDispatched(events) {
      for (const place of events.map(placeOf)) {
        undispatched.delete(place)
        reservations?.release(place)
      }
    },
    pruneEvents(receivedBefore, limit) {
      const old = [...entries].filter(
        ([, entry]) => entry.receivedAt < receivedBefore && !undispatched.has(placeOf(entry)),
      )
      for (const [identity, { tenant, body }] of old.slice(0, limit)) {
        usage.add(tenant, '', { bytes: -Buffer.byteLength(body) })
        entries.delete(identity)
      }
      return Math.min(old.length, limit)
    },
  }
}

function placeOf({ tenant, pos }: EventKey): string {
  return JSON.stringify([tenant, pos])
}

function toStoredEvent({ pos, tenant, receivedAt, body }: Entry): StoredEvent {
  return { pos, tenant, receivedAt, event: JSON.parse(body) as CloudEvent }
}
