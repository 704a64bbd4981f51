/** The text of `/metrics`. */
import { getHeapStatistics } from 'node:v8'
import { isTerminal, type State, states } from '../../core/states.ts'
import { ALL_TENANTS } from '../../engine/caller.ts'
import type { WorkerSummary } from '../../engine/cluster/worker-list.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AgentSlots } from '../../engine/executor/slots.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import { version } from '../settings/version.ts'
import { systemMemory } from '../system/memory.ts'
import { type Family, type Sample, type ShownMeter, textOf } from './meter.ts'

/**
 * The text of `/metrics`. It contains names of agents and states, and nothing of tasks, callers or
 * tenants.
 * @param tenant limits the text to tasks of this tenant; then figures of the process are left out,
 * because they reveal others
 */
export async function metricsText(
  deps: {
    readonly engine: Engine
    readonly store: Pick<TaskStore, 'count'>
    readonly meter: ShownMeter
  },
  tenant: string | undefined,
): Promise<string> {
  const { engine, store, meter } = deps
  if (tenant !== undefined) return textOf([await taskGauge(engine, store, { tenant })])
  const [tasks, budgets] = await Promise.all([taskGauge(engine, store, {}), budgetGauge(engine)])
  return textOf([tasks, budgets, ...(await processGauges(engine)), ...meter.families()])
}

/** Ended tasks are not counted, because there may be millions of them. */
const openStates: readonly State[] = states.filter((state) => !isTerminal(state))

async function taskGauge(
  engine: Pick<Engine, 'agents'>,
  store: Pick<TaskStore, 'count'>,
  scope: { readonly tenant?: string },
): Promise<Family> {
  const pairs = [...engine.agents.keys()].flatMap((agent) =>
    openStates.map((state) => ({ agent, state })),
  )
  const samples = pairs.map(async ({ agent, state }) => ({
    labels: { agent, state },
    value: await store.count({ ...scope, agent, states: [state] }),
  }))
  return gauge('lull_tasks', 'Tasks that have not ended', await Promise.all(samples))
}

/** The most budgets that are shown, the most used first. */
const SHOWN_BUDGETS = 100

async function budgetGauge(engine: Pick<Engine, 'budgets'>): Promise<Family> {
  const operator = { tenant: ALL_TENANTS, principal: 'metrics', operator: true } as const
  const budgets = [...(await engine.budgets(operator))].sort((a, b) => b.percent - a.percent)
  const samples = budgets.slice(0, SHOWN_BUDGETS).map(({ id, measure, per, percent }) => ({
    labels: { budget: id, measure, per },
    value: percent / 100,
  }))
  return gauge('lull_budget_used_ratio', 'How far budgets are used; 1 is used up', samples)
}

/**
 * Values that are read for each request of `/metrics`: tasks in the store, this process, and the
 * other processes.
 */
async function processGauges(
  engine: Pick<Engine, 'health' | 'workers'>,
): Promise<readonly Family[]> {
  const [health, workers] = await Promise.all([engine.health(), engine.workers()])
  const { runs } = health
  const { user, system } = process.cpuUsage()
  return [
    gauge('lull_info', 'The version of this process', [{ labels: { version }, value: 1 }]),
    gauge('lull_ready', '1 when new work is accepted', one(health.ready)),
    gauge('lull_draining', '1 while the process stops', one(health.draining)),
    gauge('lull_store_up', '1 while the store can be written', one(health.store === 'ok')),
    gauge('lull_runs', 'Runs in the memory of this process', [
      { labels: { kind: 'live' }, value: runs.live },
      { labels: { kind: 'warm' }, value: runs.warm },
      { labels: { kind: 'busy' }, value: runs.busy },
    ]),
    gauge('lull_slots', 'Slots of agents in this process', health.slots.flatMap(slotSamples)),
    gauge('lull_waiting_commands', 'Commands that wait for the store', one(health.waitingCommands)),
    ...leaseGauges(workers),
    gauge('lull_subscribers', 'Open streams and watchers', one(health.subscribers)),
    gauge('lull_unreadable_tasks', 'Unreadable tasks that were found', one(health.unreadable)),
    gauge('lull_processes', 'Processes that share the store', one(workers.length)),
    gauge('process_resident_memory_bytes', 'Resident memory', one(systemMemory.usedBytes())),
    gauge(
      'process_heap_bytes',
      'Memory of the JavaScript heap in use',
      one(getHeapStatistics().used_heap_size),
    ),
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      about: 'Processor time',
      samples: one((user + system) / 1e6),
    },
  ]
}

function slotSamples({ agent, limit, used, waiting }: AgentSlots): readonly Sample[] {
  return [
    { labels: { agent, kind: 'limit' }, value: limit },
    { labels: { agent, kind: 'used' }, value: used },
    { labels: { agent, kind: 'waiting' }, value: waiting },
  ]
}

/** Gauges of the lease. There are none for an embedded store. */
function leaseGauges(workers: readonly WorkerSummary[]): readonly Family[] {
  const { leaseUntil, heartbeatAt } = workers.find(({ here }) => here) ?? {}
  const held = leaseUntil === undefined || heartbeatAt === undefined
  const samples = held ? [] : one((leaseUntil - heartbeatAt) / 1_000)
  const alive = workers.filter((worker) => worker.alive).length
  return [
    gauge('lull_lease_seconds', 'The length of the lease that this process holds', samples),
    gauge('lull_leases', 'Processes whose lease holds', one(alive)),
  ]
}

const gauge = (name: string, about: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'gauge',
  about,
  samples,
})

const one = (value: number | boolean): readonly Sample[] => [{ labels: {}, value: Number(value) }]
