/**
 * The part of the store for several processes: leases, notices, and queries about the work of other
 * processes.
 */
import { changesOf } from '../../ports/store/changes-of.ts'
import type { ClusterStore } from '../../ports/store/cluster.ts'
import { toText } from '../../ports/store/text.ts'
import type { Store } from '../../ports/store.ts'
import type { Database } from './connection/database.ts'
import { createUndispatchedEvents } from './events.ts'
import { createHoldsInEffect } from './notices/notes.ts'
import type { Notices } from './notices/notices.ts'
import { createWorkers } from './workers.ts'

/** @param leases a connection for heartbeats alone */
export function createCluster(db: Database, leases: Database, notices: Notices): ClusterStore {
  const { onChanges, report } = notices
  return {
    ...createWorkers(db, leases),
    ...createUndispatchedEvents(db),
    ...createHoldsInEffect(db),
    async versions(tasks) {
      const rows = await db.read(
        `SELECT coalesce((SELECT r.last FROM ${db.schema}.records r
           WHERE r.tenant = u.tenant AND r.task_id = u.id ORDER BY r.first DESC LIMIT 1), 0) AS version
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (tenant, id, o) ORDER BY u.o`,
        [tasks.map(({ tenant }) => toText(tenant)), tasks.map(({ id }) => toText(id))],
      )
      return rows.map((row) => Number(row['version']))
    },
    onChanges,
    report,
  }
}

/** Wraps `commit` so that it reports what was written to the other processes. */
export function reporting(commit: Store['commit'], notices: Notices): Store['commit'] {
  return async (batch) => {
    const results = await commit(batch)
    const changes = changesOf(batch, results)
    if (changes !== undefined) notices.report(changes)
    return results
  }
}
