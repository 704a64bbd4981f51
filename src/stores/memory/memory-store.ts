/**
 * The store without a disk: for tests, trials and agents whose tasks may be lost. Everything is kept as JSON text, so
 * that readers get copies of their own and meet the same shapes as with a real store.
 */
import { LullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Hold } from '../../ports/store/holds.ts'
import type { Store } from '../../ports/store.ts'
import { createAgenda } from './agenda.ts'
import { createClaims } from './claims.ts'
import { createCommit } from './commit.ts'
import { createEvents } from './events.ts'
import { createPushes } from './pushes.ts'
import { createSessions } from './sessions.ts'
import { createTasks } from './tasks.ts'

export function createMemoryStore(): Store {
  const agenda = createAgenda()
  const pushes = createPushes()
  const tasks = createTasks(agenda, pushes)
  const claims = createClaims()
  const events = createEvents()
  const sessions = createSessions()
  const facts = new Map<string, string>()
  const holds = new Map<string, string>()
  let open = true

  function guarded<A extends readonly unknown[], R>(
    work: (...args: A) => R,
  ): (...args: A) => Promise<R> {
    return async (...args) => {
      if (!open) throw new LullError('STORE_UNAVAILABLE', { why: 'the store is closed' })
      return work(...args)
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
    ready: guarded(agenda.ready),
    readyAgents: guarded(agenda.readyAgents),
    orphans: guarded(agenda.orphans),
    due: guarded(agenda.due),
    nextDueAt: guarded(agenda.nextDueAt),
    waiting: guarded(agenda.waiting),
    waitNames: guarded(agenda.waitNames),
    appendEvents: guarded(events.append),
    events: guarded(events.after),
    lastEventPos: guarded(events.lastPos),
    getFact: guarded((name) => {
      const text = facts.get(name)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    }),
    setFact: guarded((name, value) => {
      facts.set(name, JSON.stringify(value))
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
