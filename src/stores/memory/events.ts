import {
  type CloudEvent,
  identityOf,
  namesOf,
  type StoredEvent,
} from '../../core/waiting/cloud-event.ts'
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
  lastEventPos(): number
  /** Returns events that were not offered to tasks and are not reserved, and reserves them. */
  undispatched(limit: number): readonly StoredEvent[]
  reserve(positions: readonly number[]): void
  markDispatched(positions: readonly number[]): void
  pruneEvents(receivedBefore: number, limit: number): number
}

/** @param reservations of events that were not offered to tasks; only a shared store has them */
export function createEvents(usage: UsageTotals, reservations?: Reservations<number>): Events {
  /** Events by identity. A `Map` keeps insertion order, which is the order of positions. */
  const entries = new Map<string, Entry>()
  const undispatched = new Set<number>()
  let last = 0

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
        const pos = ++last
        entries.set(identity, { pos, tenant, receivedAt, names, body })
        usage.add(tenant, '', { bytes: Buffer.byteLength(body) })
        if (reservations !== undefined) {
          undispatched.add(pos)
          reservations.reserve(pos)
        }
        return { pos, fresh: true }
      })
    },
    events: (tenant, afterPos, limit, names) =>
      [...entries.values()]
        .filter(
          (entry) => entry.pos > afterPos && (tenant === undefined || entry.tenant === tenant),
        )
        .filter((entry) => names === undefined || names.some((name) => entry.names.includes(name)))
        .slice(0, limit)
        .map(toStoredEvent),
    lastEventPos: () => last,
    undispatched(limit) {
      const found = [...entries.values()]
        .filter(({ pos }) => undispatched.has(pos) && reservations?.isFree(pos))
        .slice(0, limit)
      for (const { pos } of found) reservations?.reserve(pos)
      return found.map(toStoredEvent)
    },
    reserve(positions) {
      for (const pos of positions) if (undispatched.has(pos)) reservations?.reserve(pos)
    },
    markDispatched(positions) {
      for (const pos of positions) {
        undispatched.delete(pos)
        reservations?.release(pos)
      }
    },
    pruneEvents(receivedBefore, limit) {
      const old = [...entries].filter(
        ([, { pos, receivedAt }]) => receivedAt < receivedBefore && !undispatched.has(pos),
      )
      for (const [identity, { tenant, body }] of old.slice(0, limit)) {
        usage.add(tenant, '', { bytes: -Buffer.byteLength(body) })
        entries.delete(identity)
      }
      return Math.min(old.length, limit)
    },
  }
}

function toStoredEvent({ pos, tenant, receivedAt, body }: Entry): StoredEvent {
  return { pos, tenant, receivedAt, event: JSON.parse(body) as CloudEvent }
}
