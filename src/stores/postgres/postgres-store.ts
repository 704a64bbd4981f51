/** The store for many processes: a PostgreSQL database. */
import { randomUUID } from 'node:crypto'
import type { Store } from '../../ports/store.ts'
import { createAudit } from './audit.ts'
import { createCluster, reporting } from './cluster.ts'
import { type Place, readPlace, readSchema } from './connection/connection.ts'
import { type DatabaseOptions, openDatabase } from './connection/database.ts'
import { requireReadCommitted } from './connection/isolation.ts'
import { createLanes } from './connection/lanes.ts'
import { createEvents } from './events.ts'
import { connected, migrate, requireCurrent } from './migrate.ts'
import { createHolds, createKeyValues } from './notices/notes.ts'
import { createNotices } from './notices/notices.ts'
import { createPolicies } from './policies.ts'
import { createPruning } from './pruning.ts'
import { createPushes } from './pushes.ts'
import { createSessions } from './sessions.ts'
import { createClaims } from './tasks/claims.ts'
import { createCommit } from './tasks/commit.ts'
import { createLists } from './tasks/lists.ts'
import { createLogs } from './tasks/logs.ts'
import { createWork } from './tasks/work.ts'
import { createLoopGuard } from './thread/loop-guard.ts'
import { createUsage } from './usage.ts'

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:5432/database`. */
  readonly url: string
  /** The schema that has the tables. It is created when it does not exist. Default `lull`. */
  readonly schema?: string | undefined
  /**
   * The same database without a pooler, for the connections that listen and renew leases. Default:
   * `url`.
   */
  readonly direct?: string | undefined
  /** How long a call waits for a database that cannot be used before it fails. Default 10 s. */
  readonly waitMs?: number | undefined
}

/**
 * A heartbeat without an answer after this time is sent again on a new connection. A network may
 * drop a connection silently, and this leaves time for two more attempts before the default lease
 * (15 s) runs out.
 */
const HEARTBEAT_MS = 3_000
/** A heartbeat that takes longer would come too late. */
const LEASE_WAIT_MS = 4_000

/** @throws LullError `INVALID_INPUT`, or `STORE_UNAVAILABLE` with what to do about it */
export function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  return opened(options, migrate)
}

/**
 * For a read-only program.
 * @throws LullError as `createPostgresStore`, also when the schema is older
 */
export function openPostgresReader(options: PostgresStoreOptions): Promise<Store> {
  return opened(options, requireCurrent)
}

async function opened(
  options: PostgresStoreOptions,
  prepare: (place: Place, schema: string) => Promise<void>,
): Promise<Store> {
  const { waitMs } = options
  const place = readPlace(options.url, 'postgres')
  const direct = readPlace(options.direct ?? options.url, 'postgres.direct')
  const schema = readSchema(options.schema ?? 'lull', 'postgres.schema')
  await prepare(place, schema)
  const isPooled = options.direct !== undefined
  if (isPooled) await connected(place, requireReadCommitted)
  const db = openDatabase({ place, schema, isPooled, ...(waitMs === undefined ? {} : { waitMs }) })
  const forLeases: DatabaseOptions = {
    place: { ...direct, config: { ...direct.config, query_timeout: HEARTBEAT_MS } },
    schema,
    writers: 1,
    waitMs: LEASE_WAIT_MS,
    resolveMs: LEASE_WAIT_MS,
  }
  const leases = openDatabase(forLeases)
  const loopGuard = createLoopGuard(forLeases)
  const notices = createNotices({ place: direct, schema, sender: randomUUID() })
  await notices.started
  const lanes = createLanes()
  return {
    commit: reporting(createCommit(db), notices),
    ...createLogs(db),
    ...createLists(db),
    ...createWork(db),
    ...createEvents(db, lanes),
    ...createKeyValues(db),
    ...createHolds(db),
    ...createPolicies(db),
    ...createClaims(db),
    ...createSessions(db),
    ...createPushes(db),
    ...createAudit(db, lanes),
    ...createPruning(db),
    ...createUsage(db),
    cluster: { ...createCluster(db, leases, notices), loopGuard },
    async check() {
      // The check is a write, because a read-only server would answer a read.
      await db.write(`UPDATE ${schema}.counters SET value = value WHERE name = 'check'`)
    },
    async close() {
      await Promise.all([db.close(), leases.close(), notices.close(), loopGuard?.close()])
    },
  }
}
