/**
 * Limits how many tasks of each agent run at the same time, and how many of them may belong to one
 * tenant.
 *
 * S1  A slot belongs to one run token, from the moment the token is minted.
 * S2  A free slot goes to the token that has waited longest in `acquire`; `take` never overtakes it.
 * S3  `free` gives back the slot of the token, or removes the token from the queue. Calling it again does nothing.
 * S4  `take` gives a tenant another slot only while its slots are less than `tenantShare` of the
 *     sum of its own and the free slots. So some slots stay free for other tenants, however many
 *     tasks a tenant starts.
 */

import { TransientMap } from '../limits/transient-map.ts'

export interface Slots {
  /** Takes a slot for the token, if the tenant may have one. */
  take(agent: string, token: string, tenant: string): boolean
  /** Waits for a slot. Resolves when the token has one, or was removed from the queue. */
  acquire(agent: string, token: string, tenant: string): Promise<void>
  free(token: string): void
  readonly has: (token: string) => boolean
  readonly available: (agent: string) => number
  /** How many tasks can get a slot of the agent now, counting any tenants that are not full. */
  readonly startable: (agent: string) => number
  /** Tenants that may not take another slot of the agent now. */
  readonly fullTenants: (agent: string) => readonly string[]
  readonly used: () => number
  /** The slots of each agent that has ever used one. */
  readonly shares: () => readonly AgentSlots[]
}

export interface AgentSlots {
  readonly agent: string
  readonly limit: number
  readonly used: number
  /** Runs that wait for a slot to continue. */
  readonly waiting: number
}

export interface SlotsDeps {
  readonly limitOf: (agent: string) => number
  /** The share in S4, above 0 and at most 1. With 1 a tenant may take every slot. */
  readonly tenantShare: number
  /** Called when a slot is free and no token waits for it. */
  readonly freed: (agent: string) => void
}

/** The slots of one agent. */
interface Pool {
  readonly agent: string
  readonly limit: number
  taken: number
  readonly byTenant: Map<string, number>
  /** Tokens that wait in `acquire`, oldest first. */
  readonly queue: Queued[]
}

interface Holder {
  readonly pool: Pool
  readonly tenant: string
}

interface Queued {
  readonly token: string
  readonly tenant: string
  readonly over: Promise<void>
  readonly resolve: () => void
}

export function createSlots({ limitOf, tenantShare, freed }: SlotsDeps): Slots {
  const pools = new Map<string, Pool>()
  const holders = new TransientMap<Holder>()

  function poolOf(agent: string): Pool {
    const known = pools.get(agent)
    if (known !== undefined) return known
    const pool = { agent, limit: limitOf(agent), taken: 0, byTenant: new Map(), queue: [] }
    pools.set(agent, pool)
    return pool
  }

  function hold(pool: Pool, token: string, tenant: string): void {
    add(pool, tenant, 1)
    holders.set(token, { pool, tenant })
  }

  function take(agent: string, token: string, tenant: string): boolean {
    if (holders.has(token)) return true
    const pool = poolOf(agent)
    if (!mayTake(pool, tenant, tenantShare)) return false
    hold(pool, token, tenant)
    return true
  }

  async function acquire(agent: string, token: string, tenant: string): Promise<void> {
    if (holders.has(token)) return
    const pool = poolOf(agent)
    // The share of the tenant does not apply, because the task is already running.
    if (pool.taken < pool.limit) {
      hold(pool, token, tenant)
      return
    }
    const { queue } = pool
    const queued = queue.find((one) => one.token === token) ?? createQueued(token, tenant)
    if (!queue.includes(queued)) queue.push(queued)
    await queued.over
  }

  function leaveQueue(token: string): void {
    for (const { queue } of pools.values()) {
      const at = queue.findIndex((one) => one.token === token)
      if (at >= 0) queue.splice(at, 1)[0]?.resolve()
    }
  }

  function free(token: string): void {
    const holder = holders.get(token)
    if (holder === undefined) {
      leaveQueue(token)
      return
    }
    const { pool, tenant } = holder
    holders.delete(token)
    add(pool, tenant, -1)
    const next = pool.queue.shift()
    if (next === undefined) {
      freed(pool.agent)
      return
    }
    hold(pool, next.token, next.tenant)
    next.resolve()
  }

  return {
    take,
    acquire,
    free,
    has: (token) => holders.has(token),
    available: (agent) => freeIn(poolOf(agent)),
    startable: (agent) => startable(poolOf(agent), tenantShare),
    fullTenants(agent) {
      const pool = poolOf(agent)
      return [...pool.byTenant.keys()].filter((tenant) => !mayTake(pool, tenant, tenantShare))
    },
    used: () => holders.size,
    shares: () => [...pools.values()].map(shareOf),
  }
}

function shareOf({ agent, limit, taken, queue }: Pool): AgentSlots {
  return { agent, limit, used: taken, waiting: queue.length }
}

function add(pool: Pool, tenant: string, slots: 1 | -1): void {
  const { byTenant } = pool
  pool.taken += slots
  const own = (byTenant.get(tenant) ?? 0) + slots
  if (own === 0) byTenant.delete(tenant)
  else byTenant.set(tenant, own)
}

/** The rule of S4. */
function mayTake({ limit, taken, byTenant }: Pool, tenant: string, share: number): boolean {
  const own = byTenant.get(tenant) ?? 0
  const free = limit - taken
  return free > 0 && own < share * (own + free)
}

function freeIn({ limit, taken }: Pool): number {
  return limit - taken
}

/**
 * Another tenant that takes a slot first lowers the number that a tenant may take by at most one.
 */
function startable(pool: Pool, share: number): number {
  const free = freeIn(pool)
  const further = [0, ...pool.byTenant.values()].map((own) => Math.ceil(share * (own + free)) - own)
  return Math.min(free, ...further.filter((slots) => slots > 0))
}

function createQueued(token: string, tenant: string): Queued {
  let resolve: () => void = () => undefined
  const over = new Promise<void>((done) => {
    resolve = done
  })
  return { token, tenant, over, resolve }
}
