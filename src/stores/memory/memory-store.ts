/**
 * A store in memory, for tests, trials and agents whose tasks may be lost. Values are kept as JSON text, so readers get
 * copies and the same shapes as from a durable store.
 */

import { LullError } from '../../core/errors.ts'
import type { Json } from '../../core/values/json.ts'
import type { AuditEntry, AuditStore } from '../../ports/store/audit.ts'
import type { Hold } from '../../ports/store/holds.ts'
import type { KeyValueStore } from '../../ports/store/key-values.ts'
import type { Commit } from '../../ports/store/tasks.ts'
import { type Direct, promising, type Store } from '../../ports/store.ts'
import { type Claims, createClaims } from './claims.ts'
import { createCommit } from './commit.ts'
import { createEvents, type Events } from './events.ts'
import { createPolicies, type Policies } from './policies.ts'
import { createPushes, type Pushes } from './pushes.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createTasks, type Tasks } from './tasks.ts'
import { createUsageTotals, type UsageTotals } from './usage.ts'
import { createWorkQueries, type SharedWork, type WorkQueries } from './work.ts'

/** The content of one store. */
export interface MemoryData {
  readonly work: WorkQueries
  readonly pushes: Pushes
  readonly tasks: Tasks
  readonly claims: Claims
  readonly events: Events
  readonly sessions: Sessions
  readonly usage: UsageTotals
  readonly audit: Audit
  readonly policies: Policies
  readonly values: KeyValues
  readonly holds: Map<string, string>
  /** The hold epoch. Undefined in a store that is not shared. */
  holdEpoch: number | undefined
}

export function createMemoryData(
  shared?: SharedWork,
  undispatched?: Parameters<typeof createEvents>[1],
): MemoryData {
  const work = createWorkQueries(shared)
  const pushes = createPushes()
  const usage = createUsageTotals()
  return {
    work,
    pushes,
    tasks: createTasks(work, pushes, usage),
    claims: createClaims(usage),
    events: createEvents(usage, undispatched),
    sessions: createSessions(usage),
    audit: createAudit(),
    policies: createPolicies(),
    usage,
    values: createKeyValues(),
    holds: new Map(),
    holdEpoch: shared === undefined ? undefined : 0,
  }
}

export function createMemoryStore(): Store {
  return connectMemory(createMemoryData(), createGuard())
}

/** Wraps the methods of a store that can be closed: every call fails afterwards. */
export interface Guard {
  guarded<A extends readonly unknown[], R>(method: (...args: A) => R): (...args: A) => Promise<R>
  close(): void
}

export function createGuard(): Guard {
  let open = true
  return {
    guarded:
      (method) =>
      async (...args) => {
        if (!open) throw new LullError('STORE_UNAVAILABLE', { why: 'the store is closed' })
        return method(...args)
      },
    close() {
      open = false
    },
  }
}

export function holdsInEffect({ holds }: Pick<MemoryData, 'holds'>, all = false): readonly Hold[] {
  return [...holds.values()]
    .map((text) => JSON.parse(text) as Hold)
    .filter((hold) => all || hold.liftedAt === undefined)
    .sort((a, b) => a.createdAt - b.createdAt)
}

export function connectMemory(data: MemoryData, { guarded, close }: Guard): Store {
  const { tasks, claims, events, sessions, usage, holds } = data
  const isOutdated = ({ tenant, holdEpoch = data.holdEpoch, eventPos = 0 }: Commit): boolean =>
    (data.holdEpoch !== undefined && holdEpoch !== data.holdEpoch) ||
    eventPos > (events.eventPositions([tenant])[0]?.last ?? 0)
  const store = promising(guarded, {
    ...tasks,
    ...data.work,
    ...events,
    ...data.values,
    ...data.policies,
    ...claims,
    ...sessions,
    ...data.pushes,
    ...usage,
    ...data.audit,
    commit: createCommit(data, isOutdated),
    putHold(hold) {
      holds.set(hold.id, JSON.stringify(hold))
      if (data.holdEpoch !== undefined) data.holdEpoch++
    },
    holds: (all) => holdsInEffect(data, all),
    claim: (claim) => claims.take(claim).claim,
    space: () => ({ usedBytes: usage.bytes() }),
    pruneContextMessages: (before) => ({ removed: claims.pruneMessages(before, tasks.isOpen) }),
    pruneSessions: (updatedBefore) => ({
      removed: sessions.prune(updatedBefore, ({ id, ...rest }) =>
        tasks.isOpen({ ...rest, contextId: id }),
      ),
    }),
    pruneHolds(liftedBefore, limit) {
      const old = [...holds].filter(([, text]) => {
        const { liftedAt } = JSON.parse(text) as Hold
        return liftedAt !== undefined && liftedAt < liftedBefore
      })
      for (const [id] of old.slice(0, limit)) holds.delete(id)
      return Math.min(old.length, limit)
    },
    check: () => undefined,
    close,
  })
  // Closing twice is allowed.
  return { ...store, close: async () => close() }
}

/** Small values of the engine by name, as JSON. */
type KeyValues = Direct<keyof KeyValueStore>

function createKeyValues(): KeyValues {
  const values = new Map<string, string>()
  return {
    getValue(name) {
      const text = values.get(name)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    },
    setValue(name, value) {
      values.set(name, JSON.stringify(value))
    },
    replaceValue(name, before, after) {
      if (values.get(name) !== (before === undefined ? undefined : JSON.stringify(before))) {
        return false
      }
      values.set(name, JSON.stringify(after))
      return true
    },
  }
}

type Audit = Direct<keyof AuditStore>

function createAudit(): Audit {
  const entries = new Map<string, string>()

  const all = (): readonly AuditEntry[] =>
    [...entries.values()].map((text) => JSON.parse(text) as AuditEntry).sort(byTime)

  return {
    appendAudit(given) {
      for (const entry of given) {
        if (!entries.has(entry.id)) entries.set(entry.id, JSON.stringify(entry))
      }
    },
    audit({ tenant, principal, taskId, since = -Infinity, order, after, limit }) {
      const isDescending = order === 'desc'
      const kept = isDescending ? all().toReversed() : all()
      const sign = isDescending ? -1 : 1
      return kept
        .filter((entry) => after === undefined || byTime(entry, after) * sign > 0)
        .filter((entry) => entry.at >= since)
        .filter((entry) => tenant === undefined || entry.tenant === tenant)
        .filter((entry) => principal === undefined || entry.principal === principal)
        .filter((entry) => taskId === undefined || entry.taskId === taskId)
        .slice(0, limit)
    },
    pruneAudit(before, limit) {
      const old = all()
        .filter(({ at }) => at < before)
        .slice(0, limit)
      for (const { id } of old) entries.delete(id)
      return old.length
    },
  }
}

type Place = Pick<AuditEntry, 'at' | 'id'>

function byTime(a: Place, b: Place): number {
  return a.at - b.at || Number(a.id > b.id) - Number(a.id < b.id)
}
