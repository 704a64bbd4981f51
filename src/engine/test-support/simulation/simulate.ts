/**
 * One short random history of a cluster: several processes, random tasks, and calls to random processes, while processes are
 * killed, stopped and drained, calls are late and reports are lost. Everything follows from the seed. For tests only.
 */
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { createClusterHarness } from '../cluster-harness.ts'
import { emit, lift, plain, resume } from './acts.ts'
import { createChecks } from './checks.ts'
import { connectionOf, drawFaults, hintsOf } from './faults.ts'
import { type Alphabet, type History, join } from './history.ts'
import { createRandom } from './random.ts'

const LEASE_MS = 3_000
const POLL_MS = 500
const ROUNDS = 24
/** After this time without faults everything has ended. */
const QUIET_MS = 60_000

/**
 * @param failsOver whether the server of the store is replaced now and then by one that lacks the last writes
 * @throws Error when a check fails
 */
export async function simulate(
  seed: number,
  failsOver = false,
  alphabet: Alphabet = plain,
): Promise<void> {
  const random = createRandom(seed)
  const faults = drawFaults(random)
  const cluster = createClusterHarness({
    options: {
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      warmForMs: random.pick([0, 1_000, 60_000]) ?? 0,
      cachedTasks: random.pick([1, 2_048]) ?? 1,
    },
    hints: hintsOf(faults, random),
    connection: connectionOf(
      faults,
      random,
      () => history.healed,
      (ms, act) => cluster.clock.after(ms, act),
    ),
    quietTurns: 16,
  })
  const history: History = {
    random,
    faults,
    alphabet,
    cluster,
    checks: createChecks(cluster),
    live: [],
    stopped: new Set(),
    taskIds: new Set(),
    holds: new Set(),
    failovers: 0,
    healed: false,
  }
  const processes = 2 + random.below(2)
  for (let n = 0; n < processes; n++) await join(history)
  alphabet.begin?.(history)
  for (let round = 0; round < ROUNDS; round++) {
    random.pick(alphabet.acts)?.(history)
    if (failsOver && random.chance(0.1)) await failOver(history)
    await cluster.pass(random.pick([0, 250, 250, 1_000, 4_000]) ?? 0)
    await history.checks.logs(history.taskIds)
  }
  history.healed = true
  await heal(history)
  await finish(history)
  await history.checks.end(history.taskIds)
  await alphabet.check?.(history)
}

async function failOver(history: History): Promise<void> {
  const { random, cluster, checks } = history
  const lost = random.below(10)
  await cluster.failOver((_, index, writes) => index < writes.length - lost)
  history.failovers++
  checks.failedOver()
}

async function heal(history: History): Promise<void> {
  const { stopped, cluster } = history
  for (const process of stopped) cluster.goOn(process)
  stopped.clear()
  await cluster.pass(2 * LEASE_MS + 1_000)
}

/** Wakes whatever waits, until every task has ended. */
async function finish(history: History): Promise<void> {
  const { cluster, taskIds, holds, alphabet } = history
  for (let passed = 0; passed < QUIET_MS; passed += 2_000) {
    if (holds.size > 0) lift(history)
    alphabet.finishing?.(history)
    const open = await openTasks(history)
    if (open.length === 0) return
    for (const { id, state, holds: heldBy, suspension } of open) {
      taskIds.add(id)
      for (const holdId of heldBy) holds.add(holdId)
      if (state === 'paused-by-client') resume(history, id)
      // The end of the child must be enough.
      if (suspension?.children !== undefined) continue
      if (state === 'paused-by-agent') (passed % 4_000 === 0 ? resume : emit)(history, id)
    }
    await cluster.pass(2_000)
  }
  const left = await openTasks(history)
  if (left.length > 0) throw new Error(`S8: ${left.map(described).join('; ')}`)
}

async function openTasks({ cluster, live }: History): Promise<readonly Task[]> {
  const rows = await cluster.store.openTasks({ limit: 1_000 })
  const tasks = await Promise.all(rows.map(({ id }) => live[0]?.get(id)))
  return tasks.filter((task) => task !== undefined).filter(({ state }) => !isTerminal(state))
}

function described({ id, state, run, pausing, holds, suspension }: Task): string {
  return JSON.stringify({ id, state, run, pausing, holds, reason: suspension?.reason })
}
