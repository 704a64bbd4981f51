import { type CloudEvent, namesOf, type StoredEvent } from '../../core/cloud-event.ts'
import type { Store } from '../../ports/store.ts'

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
  append(tenant: string, events: readonly CloudEvent[], receivedAt: number): readonly Appended[]
  after(...query: Parameters<Store['events']>): readonly StoredEvent[]
  lastPos(): number
  prune(receivedBefore: number, limit: number): number
}

export function createEvents(): Events {
  /** By identity. A Map keeps the order of insertion, which is the order of positions. */
  const entries = new Map<string, Entry>()
  let last = 0

  return {
    append(tenant, events, receivedAt) {
      const encoded = events.map((event) => ({
        identity: JSON.stringify([tenant, event.source, event.id]),
        names: namesOf(event),
        body: JSON.stringify(event),
      }))
      return encoded.map(({ identity, names, body }) => {
        const known = entries.get(identity)
        if (known !== undefined) return { pos: known.pos, fresh: false }
        const pos = ++last
        entries.set(identity, { pos, tenant, receivedAt, names, body })
        return { pos, fresh: true }
      })
    },
    after: (tenant, afterPos, limit, names) =>
      [...entries.values()]
        .filter(
          (entry) => entry.pos > afterPos && (tenant === undefined || entry.tenant === tenant),
        )
        .filter((entry) => names === undefined || names.some((name) => entry.names.includes(name)))
        .slice(0, limit)
        .map(({ pos, tenant: of, receivedAt, body }) => ({
          pos,
          tenant: of,
          receivedAt,
          event: JSON.parse(body) as CloudEvent,
        })),
    lastPos: () => last,
    prune(receivedBefore, limit) {
      const old = [...entries].filter(([, entry]) => entry.receivedAt < receivedBefore)
      for (const [identity] of old.slice(0, limit)) entries.delete(identity)
      return Math.min(old.length, limit)
    },
  }
}
