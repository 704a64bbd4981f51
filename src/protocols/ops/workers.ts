/** `/ops/workers`: the processes that share the store. */
import { z } from 'zod'
import { toIso } from '../../core/values/instant.ts'
import type { WorkerSummary as Process } from '../../engine/cluster/worker-list.ts'
import type { WorkerSummary } from '../../wire/ops/server.ts'
import { type OpsRoute, route } from './route.ts'

const instant = z.iso.datetime().optional()

const worker: z.ZodType<WorkerSummary> = z.object({
  id: z.string(),
  here: z.boolean(),
  alive: z.boolean(),
  agents: z.array(z.string()),
  host: z.string().optional(),
  pid: z.number().optional(),
  startedAt: instant,
  heartbeatAt: instant,
  leaseUntil: instant,
  running: z.number().optional(),
  draining: z.boolean(),
})

export const listWorkers: OpsRoute = route('workers', {
  scope: 'ops:read',
  about: 'The processes that share the store, and how many tasks each runs',
  answer: z.object({ workers: z.array(worker) }),
  handle: async (engine, _, { anyTenant }) => ({
    workers: (await engine.workers()).map(anyTenant ? shown : shownToTenant),
  }),
})

function shown({ startedAt, heartbeatAt, leaseUntil, ...rest }: Process): WorkerSummary {
  return {
    ...rest,
    startedAt: iso(startedAt),
    heartbeatAt: iso(heartbeatAt),
    leaseUntil: iso(leaseUntil),
  }
}

/** The other fields tell about the machines, and about the work of other tenants. */
function shownToTenant({ id, here, alive, agents, draining }: Process): WorkerSummary {
  return { id, here, alive, agents, draining }
}

function iso(at: number | undefined): string | undefined {
  return at === undefined ? undefined : toIso(at)
}
