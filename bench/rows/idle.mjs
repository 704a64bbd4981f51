/** What four idle processes cost PostgreSQL, with none and with many tasks parked. */

import { createBuilder } from '../harness/fill.mjs'
import { farTimeout } from '../harness/filled.mjs'
import { load, system } from '../harness/lull.mjs'
import { parkedLife } from '../harness/parked.mjs'
import { withPostgres } from '../harness/postgres.mjs'
import { startSubject } from '../harness/subject.mjs'

const BATCH = 1_000

/** @param big also with 1,000,000 tasks, which takes minutes to write */
export function run({ quick, big }) {
  return withPostgres(async (server) => {
    const ms = quick ? 5_000 : 20_000
    const none = await idle(server, ms)
    const lines = []
    let parked = 0
    for (const count of quick ? [10_000] : big ? [100_000, 1_000_000] : [100_000]) {
      await fill(server, count - parked)
      parked = count
      lines.push(lineOf(count, await idle(server, ms), none))
    }
    return lines
  })
}

function lineOf(count, some, none) {
  return {
    what: `statements per second of four idle processes, ${count.toLocaleString('en')} parked`,
    ours: { value: some.statements, unit: '/s' },
    against: { what: 'none parked', value: none.statements, unit: '/s' },
    score: { value: some.statements / none.statements, unit: 'x' },
    better: 'less',
    bar: 1.5,
    goal: 1.1,
    details: { processCpu: some.cpu, processCpuWithNone: none.cpu },
  }
}

async function idle({ url, query }, ms) {
  const params = { url, agents: ['sleeper'] }
  const processes = await Promise.all(
    [1, 2, 3, 4].map(() => startSubject('subjects/postgres-engine.mjs', params)),
  )
  const before = await look(query, processes)
  await query('SELECT pg_sleep($1)', [ms / 1_000])
  const after = await look(query, processes)
  for (const one of processes) await one.close()
  const seconds = after.at - before.at
  return {
    // Our own: the pause and two looks.
    statements: (after.statements - before.statements - 3) / seconds,
    cpu: (after.cpuUs - before.cpuUs) / 1e6 / seconds,
  }
}

/** Every statement of the store is a transaction of its own. */
async function look(query, processes) {
  const times = await Promise.all(processes.map((one) => one.ask('cpu')))
  const cpuUs = times.reduce((sum, { user, system: own }) => sum + user + own, 0)
  const [row] = await query(
    `SELECT (xact_commit + xact_rollback)::float8 AS statements, extract(epoch FROM clock_timestamp())::float8 AS at
     FROM pg_stat_database WHERE datname = current_database()`,
  )
  return { ...row, cpuUs }
}

async function fill({ url, query }, count) {
  const { createPostgresStore } = await load('stores/postgres/postgres-store.js')
  const store = await createPostgresStore({ url })
  const { ids } = await system()
  const commitOf = await createBuilder({ life: await parkedLife(farTimeout), at: Date.now(), ids })
  for (let done = 0; done < count; done += BATCH) {
    const results = await store.commit(Array.from({ length: BATCH }, (_, n) => commitOf(done + n)))
    const failed = results.find(({ status }) => status !== 'written')
    if (failed !== undefined) throw new Error(`a task was not written: ${failed.status}`)
  }
  await store.close()
  await query('VACUUM ANALYZE')
}
