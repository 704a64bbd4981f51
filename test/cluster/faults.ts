/** What is broken while the tasks run, in an order and at times that the seed decides. */
import pg from 'pg'
import type { TcpProxy } from '../../src/stores/postgres/test-support/proxy.ts'
import type { PostgresServer } from '../../src/stores/postgres/test-support/server.ts'
import { chooser } from '../support/chooser.ts'
import { pass } from './calls.ts'
import { LEASE_MS, type Processes } from './processes.ts'

export type Fault =
  | 'kill'
  | 'freeze'
  | 'replace'
  | 'cut'
  | 'sever'
  | 'restart database'
  | 'crash database'

export interface Breaking {
  /** How many faults there were. */
  count(): number
  /** Resolves when everything runs again, to how often each fault happened. */
  stop(): Promise<Readonly<Partial<Record<Fault, number>>>>
}

export interface Targets {
  readonly seed: number
  readonly processes: Processes
  readonly database: PostgresServer
  /** Between the processes and the database. */
  readonly proxy: Pick<TcpProxy, 'cutAll'>
  /** Each of them once, then random ones of them. */
  readonly faults: readonly Fault[]
}

/** The chooser of the faults; those of the tasks have numbers from 0. */
const PURPOSE = -2
const BETWEEN_MS = 1_500

export function breakThings({ seed, processes, database, proxy, faults }: Targets): Breaking {
  const choose = chooser(seed, PURPOSE)
  const times: Partial<Record<Fault, number>> = {}
  let stopped = false

  const acts: Readonly<Record<Fault, () => Promise<unknown>>> = {
    kill: () => processes.kill(choose.below(processes.count)),
    replace: () => processes.replace(choose.below(processes.count)),
    freeze: () =>
      processes.freeze(choose.below(processes.count), pass(1.5 * LEASE_MS + choose.below(3_000))),
    cut: () => cutConnections(database.url, choose.below(3) === 0 ? 1 : 0.3),
    sever: async () => proxy.cutAll(),
    'restart database': () => database.restart('fast'),
    'crash database': () => database.restart('immediate'),
  }

  async function run(): Promise<void> {
    for (let n = 0; !stopped && faults.length > 0; n++) {
      await pass(BETWEEN_MS + choose.below(2 * BETWEEN_MS))
      const fault = faults[n] ?? choose.oneOf(faults)
      if (stopped) break
      await acts[fault]()
      times[fault] = (times[fault] ?? 0) + 1
    }
  }

  const running = run()
  // A failure is thrown by `stop`.
  running.catch(() => undefined)
  return {
    count: () => Object.values(times).reduce((sum, one) => sum + one, 0),
    async stop() {
      stopped = true
      await running
      return times
    },
  }
}

/** Cuts this share of the connections that the processes have. */
async function cutConnections(url: string, share: number): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND random() < $1`,
    [share],
  )
  await client.end()
}
