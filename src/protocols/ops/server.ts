/** `/ops/workers`, `/ops/queues` and `/ops/audit`: processes, how busy their agents are, and who did what. */

import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import { toIso } from '../../core/values/instant.ts'
import type { WorkerSummary as Process } from '../../engine/cluster/worker-list.ts'
import type { AuditSummary, QueueSummary, WorkerSummary } from '../../wire/ops/server.ts'
import { count, type OpsRoute, route, tenant } from './route.ts'

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

/** The page of a reader shows only what its credential allows. */
export const showMe: OpsRoute = route('me', {
  scope: 'ops:read',
  about: 'Who asks, and what this credential allows',
  answer: z.object({
    tenant: z.string(),
    principal: z.string(),
    scopes: z.array(z.string()),
    traceUrl: z.string().optional(),
  }),
  handle: async (_, { tenant, principal }, { anyTenant, scopes, traceUrl }) => ({
    tenant: anyTenant ? '*' : tenant,
    principal,
    scopes: [...scopes],
    ...(traceUrl === undefined ? {} : { traceUrl }),
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

/** `/ops/queues`: how busy the agents of this process are. */
const queue: z.ZodType<QueueSummary> = z.object({
  agent: z.string(),
  limit: z.number(),
  used: z.number().optional(),
  waiting: z.number().optional(),
})

export const listQueues: OpsRoute = route('queues', {
  scope: 'ops:read',
  about: 'The queue of each agent that has run a task in this process',
  answer: z.object({ queues: z.array(queue) }),
  handle: async (engine, _, { anyTenant }) => {
    const { slots } = await engine.health()
    // The work of other tenants is not shown to the operator of one.
    return { queues: anyTenant ? slots : slots.map(({ agent, limit }) => ({ agent, limit })) }
  },
})

/** `GET /ops/audit`: who did what. */
const MOST = 1_000

const query = z.strictObject({
  since: z.iso.datetime({ offset: true }).optional(),
  principal: z.string().max(256).optional(),
  taskId: z.string().max(256).optional(),
  cursor: z.string().max(256).optional(),
  order: z.enum(['asc', 'desc']).optional(),
  limit: count,
  tenant,
})

const entry: z.ZodType<AuditSummary> = z.object({
  at: z.iso.datetime(),
  tenant: z.string(),
  principal: z.string().optional(),
  operator: z.literal(true).optional(),
  credential: z.string().optional(),
  action: z.string(),
  taskId: z.string().optional(),
  target: z.string().optional(),
  outcome: z.string(),
  from: z.string().optional(),
  further: z.number().optional(),
})

/** Reads a cursor: the time and the id of the last entry of a page. */
function readPlace(cursor: string): { readonly at: number; readonly id: string } {
  const [, at, id] = /^([\d.e+]{1,32})~(.+)$/s.exec(cursor) ?? []
  if (id === undefined || !Number.isFinite(Number(at))) {
    throw new LullError('INVALID_INPUT', { path: 'cursor', problem: 'is not one of ours' })
  }
  return { at: Number(at), id }
}

export const readAudit: OpsRoute = route('audit', {
  scope: 'ops:read',
  about: 'Who did what, and what was refused, oldest first; with `order=desc` newest first',
  query,
  answer: z.object({ entries: z.array(entry), cursor: z.string().optional() }),
  async handle(engine, caller, { query: given }) {
    const { since, cursor, limit = 100, principal, taskId, order } = given
    const most = Math.max(1, Math.min(limit, MOST))
    const found = await engine.audit.read(caller, {
      principal,
      taskId,
      since: since === undefined ? undefined : Date.parse(since),
      order,
      after: cursor === undefined ? undefined : readPlace(cursor),
      limit: most + 1,
    })
    const page = found.slice(0, most)
    const last = page.at(-1)
    return {
      entries: page.map(({ id: _id, at, ...rest }) => ({ at: toIso(at), ...rest })),
      ...(last !== undefined && found.length > most ? { cursor: `${last.at}~${last.id}` } : {}),
    }
  },
})
