/** Several processes on one PostgreSQL: waking across processes, claiming ready tasks, and what more processes give. */
import { createBuilder } from '../harness/fill.mjs'
import { load, system } from '../harness/lull.mjs'
import { withPostgres } from '../harness/postgres.mjs'
import { median, spread } from '../harness/statistics.mjs'
import { startSubject } from '../harness/subject.mjs'
import { elapsed, ratio, takeTurns } from '../harness/turns.mjs'

export async function run({ quick }) {
  return [
    ...(await withPostgres((server) => wakes(server, quick))),
    await withPostgres((server) => claims(server, quick)),
    ...(await withPostgres((server) => throughput(server, quick))),
  ]
}

const start = (url, agents) => startSubject('subjects/postgres-engine.mjs', { url, agents })

/** The process that takes the event does not have the agent, so another one always runs the task. */
async function wakes({ url }, quick) {
  const [worker, front] = [await start(url, ['waiter']), await start(url, ['two-steps'])]
  const times = []
  const commits = []
  for (let n = 0; n < (quick ? 60 : 600); n++) {
    const taskId = await worker.ask('park')
    const arrival = worker.ask('arrival', { taskId })
    const before = performance.now()
    const sentAt = await front.ask('wake', { taskId })
    commits.push(elapsed(before))
    times.push((await arrival) - sentAt)
  }
  await front.close()
  await worker.close()
  const { p50, p99 } = spread(times.slice(10))
  const emitted = spread(commits.slice(10))
  return [
    {
      what: 'event in one process to the step running in another, p50',
      ours: { value: p50, unit: 'ms' },
      against: { what: 'the answer to the sender', value: emitted.p50, unit: 'ms' },
      score: { value: p50 / emitted.p50, unit: 'x' },
      better: 'less',
    },
    {
      what: 'the same, p99',
      ours: { value: p99, unit: 'ms' },
      score: { value: p99, unit: 'ms' },
      better: 'less',
    },
  ]
}

/** Ready tasks that four processes reserve, 64 at a time, until there are none. */
async function claims({ url }, quick) {
  const count = quick ? 4_000 : 20_000
  const processes = await Promise.all([1, 2, 3, 4].map(() => start(url, ['two-steps'])))
  const { createPostgresStore } = await load('stores/postgres/postgres-store.js')
  const store = await createPostgresStore({ url })
  const { ids } = await system()
  // No process has this agent, so no engine takes the tasks.
  const life = {
    agent: 'nobody',
    commands: (_, { token }) => [{ type: 'release', run: token, reason: 'drained' }],
  }
  const commitOf = await createBuilder({ life, at: Date.now(), ids })
  const batches = Array.from({ length: count / 1_000 }, () =>
    Array.from({ length: 1_000 }, (_, n) => commitOf(n)),
  )
  for (const batch of batches) await store.commit(batch)
  const started = performance.now()
  const claimed = await Promise.all(
    processes.map((one) => one.ask('claim', { agent: life.agent, batch: 64, most: count })),
  )
  const took = elapsed(started)
  await store.close()
  for (const one of processes) await one.close()
  const sum = claimed.reduce((a, b) => a + b, 0)
  const rate = (sum * 1_000) / took
  return {
    what: `ready tasks claimed by four processes, 64 at a time, ${count} of them`,
    ours: { value: rate, unit: '/s' },
    score: { value: sum / count, unit: 'claims per task' },
    better: 'less',
  }
}

/** The same clients, spread over more processes. */
async function throughput({ url }, quick) {
  const processes = await Promise.all([1, 2, 3, 4].map(() => start(url, ['two-steps'])))
  const ms = quick ? 1_000 : 4_000
  const withProcesses = (count) => async () => {
    const parts = processes
      .slice(0, count)
      .map((one) => one.ask('tasks', { width: 64 / count, ms }))
    return (await Promise.all(parts)).reduce((sum, { rate }) => sum + rate, 0)
  }
  for (const one of processes) await one.ask('tasks', { width: 64, ms })
  const turns = await takeTurns(quick ? 3 : 7, {
    1: withProcesses(1),
    2: withProcesses(2),
    4: withProcesses(4),
  })
  for (const one of processes) await one.close()
  return [2, 4].map((count) => ({
    what: `two-step tasks, 64 clients, ${count} processes`,
    ours: { value: median(turns[count]), unit: '/s' },
    against: { what: 'one process', value: median(turns[1]), unit: '/s' },
    score: { value: ratio(turns[count], turns[1]), unit: 'x' },
    better: 'more',
  }))
}
