/** Two-step tasks on PostgreSQL, 64 at once, against DBOS on the same server: what a durable step costs. */
import { withPostgres } from '../harness/postgres.mjs'
import { median } from '../harness/statistics.mjs'
import { startSubject } from '../harness/subject.mjs'
import { ratio, takeTurns } from '../harness/turns.mjs'

const WIDTH = 64

export function run({ quick }) {
  return withPostgres(async ({ url, query }) => {
    const ours = await startSubject('subjects/postgres-engine.mjs', { url })
    const peer = await startSubject('peers/dbos.mjs', { url })
    const load = { width: WIDTH, ms: quick ? 1_000 : 3_000 }
    await ours.ask('tasks', load)
    await peer.ask('tasks', load)
    const seen = { ours: [], dbos: [] }
    const measured = async (name, subject) => {
      const turn = await subject.ask('tasks', load)
      seen[name].push(turn)
      return turn.rate
    }
    const turns = await takeTurns(quick ? 3 : 9, {
      ours: () => measured('ours', ours),
      dbos: () => measured('dbos', peer),
    })
    const wal = await walOf(ours, query, load)
    await ours.close()
    await peer.close()
    const of = (name, key) => median(seen[name].map((turn) => turn[key]))
    return [
      {
        what: 'two-step tasks on PostgreSQL, 64 clients',
        ours: { value: median(turns.ours), unit: '/s' },
        against: { what: 'DBOS on the same server', value: median(turns.dbos), unit: '/s' },
        score: { value: ratio(turns.ours, turns.dbos), unit: 'x' },
        better: 'more',
        bar: 5,
        goal: 10,
        details: {
          ours: { p50: of('ours', 'p50'), p99: of('ours', 'p99'), ...wal },
          theirs: { p50: of('dbos', 'p50'), p99: of('dbos', 'p99') },
        },
      },
    ]
  })
}

/** Bytes of write-ahead log, and transactions, per task. */
async function walOf(subject, query, load) {
  const before = await countersOf(query)
  const { count } = await subject.ask('tasks', load)
  const after = await countersOf(query)
  return {
    walBytesPerTask: (after.wal - before.wal) / count,
    transactionsPerTask: (after.transactions - before.transactions) / count,
  }
}

async function countersOf(query) {
  // The counters of a connection are shown within a second.
  await query('SELECT pg_stat_clear_snapshot()')
  const [row] = await query(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal, xact_commit::float8 AS transactions
     FROM pg_stat_database WHERE datname = current_database()`,
  )
  return row
}
