/**
 * A store in memory, for tests, trials and agents whose tasks may be lost. Values are kept as JSON text, so readers get
 * copies and the same shapes as from a durable store.
 */
import { LullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Hold } from '../../ports/store/holds.ts'
import type { Store } from '../../ports/store.ts'
import { createClaims } from './claims.ts'
import { createCommit } from './commit.ts'
import { createEvents } from './events.ts'
import { createPushes } from './pushes.ts'
import { createSessions } from './sessions.ts'
import { createTasks } from './tasks.ts'
import { createWorkQueries } from './work.ts'

export function createMemoryStore(): Store {
  const work = createWorkQueries()
  const pushes = createPushes()
  const tasks = createTasks(work, pushes)
  const claims = createClaims()
  const events = createEvents()
  const sessions = createSessions()
  const values = new Map<string, string>()
  const holds = new Map<string, string>()
  let open = true

  function guarded<A extends readonly unknown[], R>(
    method: (...args: A) => R,
  ): (...args: A) => Promise<R> {
    return async (...args) => {
      if (!open) throw new LullError('STORE_UNAVAILABLE', { why: 'the store is closed' })
      return method(...args)
    }
  }

  return {
    commit: guarded(createCommit(tasks, claims, pushes)),
    load: guarded(tasks.load),
    row: guarded(tasks.row),
    records: guarded(tasks.records),
    list: guarded(tasks.list),
    count: guarded(tasks.count),
    openTasks: guarded(tasks.open),
    ready: guarded(work.ready),
    readyAgents: guarded(work.readyAgents),
    orphans: guarded(work.orphans),
    due: guarded(work.due),
    nextDueAt: guarded(work.nextDueAt),
    waiting: guarded(work.waiting),
    waitNames: guarded(work.waitNames),
    appendEvents: guarded(events.append),
    events: guarded(events.after),
    lastEventPos: guarded(events.lastPos),
    getValue: guarded((name) => {
      const text = values.get(name)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    }),
    setValue: guarded((name, value) => {
      values.set(name, JSON.stringify(value))
    }),
    putHold: guarded((hold) => {
      holds.set(hold.id, JSON.stringify(hold))
    }),
    holds: guarded((all = false) =>
      [...holds.values()]
        .map((text) => JSON.parse(text) as Hold)
        .filter((hold) => all || hold.liftedAt === undefined)
        .sort((a, b) => a.createdAt - b.createdAt),
    ),
    findClaim: guarded(claims.find),
    claim: guarded((claim) => claims.take(claim).claim),
    reply: guarded(claims.reply),
    contextMessages: guarded(claims.messages),
    putSession: guarded(sessions.put),
    session: guarded(sessions.get),
    sessions: guarded(sessions.list),
    putPush: guarded(pushes.put),
    pushes: guarded(pushes.of),
    deletePush: guarded(pushes.delete),
    listPushes: guarded(pushes.list),
    pruneTasks: guarded(tasks.prune),
    removedTask: guarded(tasks.removed),
    pruneRemovedTasks: guarded(tasks.pruneRemoved),
    pruneContextMessages: guarded((before) => ({
      removed: claims.pruneMessages(before, tasks.isOpen),
    })),
    pruneSessions: guarded((updatedBefore) => ({
      removed: sessions.prune(updatedBefore, ({ id, ...rest }) =>
        tasks.isOpen({ ...rest, contextId: id }),
      ),
    })),
    pruneHolds: guarded((liftedBefore, limit) => {
      const old = [...holds].filter(([, text]) => {
        const { liftedAt } = JSON.parse(text) as Hold
        return liftedAt !== undefined && liftedAt < liftedBefore
      })
      for (const [id] of old.slice(0, limit)) holds.delete(id)
      return Math.min(old.length, limit)
    }),
    pruneEvents: guarded(events.prune),
    pruneClaims: guarded(claims.prune),
    check: guarded(() => undefined),
    close: async () => {
      open = false
    },
  }
}
