/**
 * One short random history of a cluster: several processes, random tasks, and calls to random processes, while processes are
 * killed, stopped and drained, calls are late and reports are lost. Everything follows from the seed. For tests only.
 */
import { isLullError } from '../../../core/errors.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { type ClusterHarness, createClusterHarness } from '../cluster-harness.ts'
import { alice, type Harness, message } from '../engine-harness.ts'
import { type Checks, createChecks } from './checks.ts'
import { connectionOf, drawFaults, type Faults, hintsOf } from './faults.ts'
import { createRandom, type Random } from './random.ts'
import { createScriptedAgent, eventOf } from './scripted-agent.ts'

const LEASE_MS = 3_000
const POLL_MS = 500
const ROUNDS = 24
/** After this time without faults everything has ended. */
const QUIET_MS = 60_000
const letters = ['s', 's', 's', 'p', 'e', 't', 'c'] as const
const root = { tenant: '*', principal: 'root', operator: true }

interface History {
  readonly random: Random
  readonly faults: Faults
  readonly cluster: ClusterHarness
  readonly checks: Checks
  readonly live: Harness[]
  readonly stopped: Set<Harness>
  readonly taskIds: Set<string>
  readonly holds: Set<string>
  /** How often another server took over. */
  failovers: number
}

/**
 * @param failsOver whether the server of the store is replaced now and then by one that lacks the last writes
 * @throws Error when a check fails
 */
export async function simulate(seed: number, failsOver = false): Promise<void> {
  const random = createRandom(seed)
  const faults = drawFaults(random)
  let healed = false
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
      () => healed,
      (ms, act) => cluster.clock.after(ms, act),
    ),
    quietTurns: 16,
  })
  const history: History = {
    random,
    faults,
    cluster,
    checks: createChecks(cluster),
    live: [],
    stopped: new Set(),
    taskIds: new Set(),
    holds: new Set(),
    failovers: 0,
  }
  const processes = 2 + random.below(2)
  for (let n = 0; n < processes; n++) await join(history)
  for (let round = 0; round < ROUNDS; round++) {
    random.pick(acts)?.(history)
    if (failsOver && random.chance(0.1)) await failOver(history)
    await cluster.pass(random.pick([0, 250, 250, 1_000, 4_000]) ?? 0)
    await history.checks.logs(history.taskIds)
  }
  healed = true
  await heal(history)
  await finish(history)
  await history.checks.end(history.taskIds)
}

/** A process that cannot start is started again. */
async function join(history: History): Promise<void> {
  for (;;) {
    try {
      await joinOnce(history)
      return
    } catch (error) {
      if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
    }
  }
}

async function joinOnce({ random, faults, cluster, checks, live }: History): Promise<void> {
  const skewMs = faults.skew ? random.below(120_000) - 60_000 : 0
  const agents = [createScriptedAgent(checks.process(), 1 + random.below(3))]
  const process = await cluster.join({ skewMs, agents })
  live.push(process)
}

/** A call whose answer is not waited for. What it answers is checked, unless the store may have lost it. */
function call<T>(history: History, asked: Promise<T>, answered?: (answer: T) => void): void {
  const { checks, failovers } = history
  checks.track(
    asked.then((answer) => {
      if (failovers === history.failovers) answered?.(answer)
    }),
  )
}

async function failOver(history: History): Promise<void> {
  const { random, cluster, checks } = history
  const lost = random.below(10)
  await cluster.failOver((_, index, writes) => index < writes.length - lost)
  history.failovers++
  checks.failedOver()
}

type Act = (history: History) => void

const someTask = ({ random, taskIds }: History): string => random.pick([...taskIds]) ?? 'none'

const send: Act = (history) => {
  const { random, live, checks, taskIds } = history
  const text = Array.from({ length: 1 + random.below(4) }, () => random.pick(letters)).join('')
  const idempotencyKey = random.chance(0.4) ? `key-${random.below(3)}` : undefined
  const request = {
    message: message(idempotencyKey === undefined ? text : `s${idempotencyKey.at(-1)}`, {
      messageId: idempotencyKey ?? `m-${random.below(2 ** 31)}`,
    }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  }
  for (let times = random.chance(0.3) ? 2 : 1; times > 0; times--) {
    const process = random.pick(live)
    if (process === undefined) return
    const key = times === 1 && idempotencyKey === undefined ? undefined : idempotencyKey
    call(history, process.engine.send(alice, request), (sent) => {
      if (sent.kind !== 'task') return
      taskIds.add(sent.task.id)
      checks.sent(sent.task.id, key)
      checks.read(process, sent.task.id)
    })
    if (idempotencyKey === undefined) return
  }
}

const acts: readonly Act[] = [
  send,
  send,
  send,
  (history) => {
    const { random, live, checks } = history
    const taskId = someTask(history)
    const mode = random.pick(['finish_step', 'interrupt_immediate'] as const) ?? 'finish_step'
    const pausing = random.pick(live)?.engine.pause(alice, { taskId, mode })
    if (pausing !== undefined) call(history, pausing, ({ handle }) => checks.paused(taskId, handle))
  },
  (history) => resume(history, someTask(history)),
  (history) => emit(history, someTask(history)),
  (history) => emit(history, someTask(history)),
  (history) => {
    const { random, live, checks } = history
    const taskId = someTask(history)
    const message_ = message('more', { taskId, messageId: `follow-up-${random.below(2 ** 31)}` })
    const idempotencyKey = `follow-${random.below(2 ** 31)}`
    const processes = [random.pick(live), random.pick(live)]
    for (const process of processes) {
      const sending = process?.engine.send(alice, { message: message_, idempotencyKey })
      if (sending !== undefined)
        call(history, sending, () => checks.followedUp(taskId, message_.messageId))
    }
  },
  (history) => {
    const { random, live, checks, holds } = history
    const request = { scope: { all: true } as const, reason: 'sim', holdNew: random.chance(0.7) }
    const holding = random.pick(live)?.engine.hold(root, request)
    if (holding === undefined) return
    call(history, holding, ({ holdId }) => {
      holds.add(holdId)
      checks.held(holdId, request.holdNew)
    })
  },
  (history) => lift(history),
  (history) => {
    const { random, live, faults, stopped } = history
    const process = random.pick(live)
    if (!faults.kills || live.length < 2 || process === undefined) return
    process.crash()
    live.splice(live.indexOf(process), 1)
    stopped.delete(process)
    call(history, join(history))
  },
  (history) => {
    const { random, live, faults, stopped, cluster } = history
    const process = random.pick(live)
    if (!faults.stops || process === undefined || stopped.has(process)) return
    stopped.add(process)
    cluster.stop(process)
  },
  (history) => {
    const { random, stopped, cluster } = history
    const process = random.pick([...stopped])
    if (process === undefined) return
    stopped.delete(process)
    cluster.goOn(process)
  },
  (history) => {
    const { random, live, faults, stopped, checks } = history
    const process = random.pick(live.filter((one) => !stopped.has(one)))
    if (!faults.drains || live.length < 2 || process === undefined) return
    live.splice(live.indexOf(process), 1)
    checks.track(process.engine.drain({ timeoutMs: 1_000 }).then(process.crash))
    call(history, join(history))
  },
]

function resume(history: History, taskId: string): void {
  const { random, live, checks } = history
  const resuming = random.pick(live)?.engine.resume(alice, { taskId })
  if (resuming !== undefined)
    call(history, resuming, ({ handle }) => checks.resumed(taskId, handle))
}

function emit(history: History, taskId: string): void {
  const { random, live } = history
  const id = `event-${random.below(2 ** 31)}`
  const event = { id, source: 'simulation', type: eventOf(taskId) }
  const emitting = random.pick(live)?.engine.emit(alice, [event])
  if (emitting !== undefined) call(history, emitting)
}

function lift(history: History): void {
  const { random, live, checks, holds } = history
  for (const holdId of holds) {
    checks.lifting(holdId)
    const lifting = random.pick(live)?.engine.lift(root, holdId)
    if (lifting !== undefined) call(history, lifting, () => holds.delete(holdId))
  }
}

async function heal(history: History): Promise<void> {
  const { stopped, cluster } = history
  for (const process of stopped) cluster.goOn(process)
  stopped.clear()
  await cluster.pass(2 * LEASE_MS + 1_000)
}

/** Wakes whatever waits, until every task has ended. */
async function finish(history: History): Promise<void> {
  const { cluster, taskIds, holds } = history
  for (let passed = 0; passed < QUIET_MS; passed += 2_000) {
    if (holds.size > 0) lift(history)
    const open = await openTasks(history)
    if (open.length === 0) return
    for (const { id, state, holds: heldBy } of open) {
      taskIds.add(id)
      for (const holdId of heldBy) holds.add(holdId)
      if (state === 'paused-by-client') resume(history, id)
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
