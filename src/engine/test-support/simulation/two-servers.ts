/**
 * One short random history of two servers with a store each: tasks are exported from one, imported into the other, forked and
 * removed, under holds, while processes die and stop. Checks of `checks.ts` hold on both. For tests only.
 */

import type { TaskExport } from '../../../core/receipts/task-export.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { createCountingIds } from '../../../testing/counting-ids.ts'
import { keyIn } from '../../../testing/key-in.ts'
import { type ClusterHarness, createClusterHarness } from '../cluster-harness.ts'
import { alice, type Harness, message, olga } from '../engine-harness.ts'
import { type Checks, createChecks } from './checks.ts'
import { root } from './history.ts'
import { createRandom, type Random } from './random.ts'
import { createScriptedAgent, eventOf } from './scripted-agent.ts'

const LEASE_MS = 3_000
/** Short, so that tasks are removed within a history. */
const KEPT_MS = 3_000
const ROUNDS = 30
const SLICE_MS = 250
const QUIET_MS = 120_000
const letters = ['s', 's', 'p', 'e', 't', 'c', 'k'] as const

interface Server {
  readonly cluster: ClusterHarness
  readonly checks: Checks
  readonly live: Harness[]
  readonly stopped: Set<Harness>
  readonly taskIds: Set<string>
  readonly holds: Set<string>
  /** The fork that a key made. */
  readonly forks: Map<string, string>
}

interface History {
  readonly random: Random
  readonly servers: readonly [Server, Server]
  readonly files: TaskExport[]
}

/** @throws Error when a check fails */
export async function simulateTwoServers(seed: number): Promise<void> {
  const random = createRandom(seed)
  const ids = createCountingIds()
  const servers = [await start(random, ids), await start(random, ids)] as const
  const history: History = { random, servers, files: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const server = random.pick(servers)
    if (server !== undefined) random.pick(acts)?.(history, server)
    await pass(servers, random.pick([0, 250, 1_000, 4_000]) ?? 0)
    for (const { checks, taskIds } of servers) await checks.logs(taskIds)
  }
  for (const { stopped, cluster } of servers) {
    for (const process of stopped) cluster.goOn(process)
    stopped.clear()
  }
  await pass(servers, 2 * LEASE_MS + 1_000)
  for (const server of servers) await finish(server, servers)
  for (const { checks, taskIds } of servers) await checks.logs(taskIds)
}

async function start(random: Random, ids: ReturnType<typeof createCountingIds>): Promise<Server> {
  const options = { leaseMs: LEASE_MS, pollMs: 500, tasksForMs: KEPT_MS }
  const cluster = createClusterHarness({ options, ids, quietTurns: 16 })
  const server: Server = {
    cluster,
    checks: createChecks(cluster),
    live: [],
    stopped: new Set(),
    taskIds: new Set(),
    holds: new Set(),
    forks: new Map(),
  }
  await join(random, server)
  await join(random, server)
  return server
}

async function join(random: Random, { cluster, checks, live }: Server): Promise<void> {
  const agents = [
    createScriptedAgent({ begins: checks.process(), concurrency: 1 + random.below(3) }),
  ]
  live.push(await cluster.join({ agents }))
}

/** Both stores have the same time. */
async function pass(servers: History['servers'], ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= SLICE_MS) {
    for (const { cluster } of servers) await cluster.pass(Math.min(left, SLICE_MS))
  }
}

type Act = (history: History, server: Server) => void

function call<T>({ checks }: Server, asked: Promise<T> | undefined, then?: (answer: T) => void) {
  if (asked !== undefined) checks.track(asked.then((answer) => then?.(answer)))
}

const someTask = ({ random }: History, { taskIds }: Server): string =>
  random.pick([...taskIds]) ?? 'none'

const someProcess = ({ random }: History, { live }: Server): Harness | undefined =>
  random.pick(live)

const send: Act = (history, server) => {
  const { random } = history
  const text = Array.from({ length: 1 + random.below(4) }, () => random.pick(letters)).join('')
  const request = { message: message(text, { messageId: `m-${random.below(2 ** 31)}` }) }
  call(server, someProcess(history, server)?.engine.send(alice, request), (sent) => {
    if (sent.kind === 'task') server.taskIds.add(sent.task.id)
  })
}

const exportTask: Act = (history, server) => {
  const taskId = someTask(history, server)
  call(server, someProcess(history, server)?.engine.exportTask(olga, { taskId }), (file) => {
    history.files.push(JSON.parse(JSON.stringify(file)))
  })
}

/** Into either server, the first one too: what it has already is refused. Sometimes two processes do it at once. */
const importTask: Act = (history, server) => {
  const { random, files } = history
  const file = random.pick(files)
  if (file === undefined) return
  const start = random.chance(0.3)
  for (let times = 1 + random.below(2); times > 0; times--) {
    const importing = someProcess(history, server)?.engine.importTask(olga, { ...file, start })
    call(server, importing, ({ taskId, holdId }) => {
      server.taskIds.add(taskId)
      if (holdId !== undefined) server.holds.add(holdId)
    })
  }
}

const fork: Act = (history, server) => {
  const { random } = history
  const { forks } = server
  const taskId = someTask(history, server)
  const key = `${taskId}-fork-${random.below(2)}`
  const at = `s${random.below(3)}`
  const request = { taskId, at, idempotencyKey: key, paused: random.chance(0.3) }
  call(server, someProcess(history, server)?.engine.fork(alice, request), ({ id }) => {
    server.taskIds.add(id)
    const known = forks.get(`${at} ${key}`) ?? id
    forks.set(`${at} ${key}`, known)
    if (known !== id) throw new Error(`S9: ${key} made the forks ${known} and ${id}`)
  })
}

const hold: Act = (history, server) => {
  const { random } = history
  const request = { scope: { all: true } as const, reason: 'sim', holdNew: random.chance(0.7) }
  call(server, someProcess(history, server)?.engine.hold(root, request), ({ holdId }) => {
    server.holds.add(holdId)
    server.checks.held(holdId, request.holdNew)
  })
}

const lift: Act = (history, server) => {
  const holdId = history.random.pick([...server.holds])
  if (holdId === undefined) return
  server.checks.lifting(holdId)
  call(server, someProcess(history, server)?.engine.lift(root, holdId), () => {
    server.holds.delete(holdId)
  })
}

const kill: Act = (history, server) => {
  const process = someProcess(history, server)
  if (process === undefined || server.live.length < 2) return
  process.crash()
  server.live.splice(server.live.indexOf(process), 1)
  server.stopped.delete(process)
  call(server, join(history.random, server))
}

const stop: Act = (history, server) => {
  const process = someProcess(history, server)
  if (process === undefined || server.stopped.has(process)) return
  server.stopped.add(process)
  server.cluster.stop(process)
}

const goOn: Act = ({ random }, { stopped, cluster }) => {
  const process = random.pick([...stopped])
  if (process === undefined) return
  stopped.delete(process)
  cluster.goOn(process)
}

const control =
  (asked: (process: Harness, taskId: string, id: number) => Promise<unknown>): Act =>
  (history, server) => {
    const process = someProcess(history, server)
    const taskId = someTask(history, server)
    if (process !== undefined) call(server, asked(process, taskId, history.random.below(2 ** 31)))
  }

const resume = control(({ engine }, taskId) => engine.resume(alice, { taskId }))
const emit = control(({ engine }, taskId, id) =>
  engine.emit(alice, [{ id: `event-${id}`, source: 'simulation', type: eventOf(taskId) }]),
)

const acts: readonly Act[] = [
  ...[send, send, send, resume, resume, emit],
  ...[exportTask, exportTask, exportTask, importTask, importTask, importTask, fork, fork],
  ...[hold, lift, lift, kill, stop, goOn, goOn],
  control(({ engine }, taskId) => engine.pause(alice, { taskId, mode: 'interrupt_immediate' })),
  control(({ engine }, taskId) => engine.cancel(alice, { taskId })),
  control(({ engine }) => engine.prune()),
  control(({ engine }) => engine.prune()),
]

/** Wakes whatever waits, until every task has ended. A task whose child is on the other server alone is canceled. */
async function finish(server: Server, servers: History['servers']): Promise<void> {
  const { cluster, live, checks, taskIds } = server
  const [process] = live
  if (process === undefined) throw new Error('no process is left')
  for (let passed = 0; passed < QUIET_MS; passed += 2_000) {
    for (const { id } of await process.engine.holds(root)) {
      checks.lifting(id)
      call(server, process.engine.lift(root, id))
    }
    const open = await openTasks(server, process)
    if (open.length === 0) return
    for (const task of open) {
      taskIds.add(task.id)
      if (await lacksChild(server, task))
        call(server, process.engine.cancel(alice, { taskId: task.id }))
      else if (task.suspension !== undefined) {
        call(server, process.engine.resume(alice, { taskId: task.id }))
      }
    }
    await pass(servers, 2_000)
  }
  const left = await openTasks(server, process)
  const described = left.map(({ id, state, holds, run }) =>
    JSON.stringify({ id, state, holds, run }),
  )
  if (left.length > 0) throw new Error(`S8: ${described.join('; ')}, at ${cluster.clock.now()}`)
}

async function openTasks({ cluster }: Server, { get }: Harness): Promise<readonly Task[]> {
  const rows = await cluster.store.openTasks({ limit: 1_000 })
  const tasks = await Promise.all(rows.map(({ id }) => get(id)))
  return tasks.filter(({ state }) => !isTerminal(state))
}

async function lacksChild({ cluster }: Server, { children }: Task): Promise<boolean> {
  const rows = await Promise.all(
    children.map(async (child) => cluster.store.row(...(await keyIn(cluster.store, child)))),
  )
  return rows.some((row) => row === undefined)
}
