/** `/ops/queues`: how busy the agents of this process are. */
import { z } from 'zod'
import type { QueueSummary } from '../../wire/ops/server.ts'
import { type OpsRoute, route } from './route.ts'

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
