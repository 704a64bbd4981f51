/**
 * How many tasks of each agent run at the same time.
 *
 * S1  A slot belongs to one run token, from the moment the token is minted.
 * S2  A free slot goes to the token that has waited longest in `acquire`; `take` never overtakes it.
 * S3  `free` gives back the slot of the token, or removes the token from the queue. Calling it again does nothing.
 */
import { TransientMap } from '../transient-map.ts'

export interface Slots {
  /** Takes a slot for the token, if one is free. */
  take(agent: string, token: string): boolean
  /** Waits for a slot. Resolves when the token has one, or was removed from the queue. */
  acquire(agent: string, token: string): Promise<void>
  free(token: string): void
  readonly has: (token: string) => boolean
  readonly available: (agent: string) => number
  readonly used: () => number
}

/** The slots of one agent. */
interface Pool {
  readonly agent: string
  readonly limit: number
  taken: number
  /** Oldest first. */
  readonly queue: Queued[]
}

interface Queued {
  readonly token: string
  readonly over: Promise<void>
  readonly resolve: () => void
}

/** @param freed called when a slot is free and no token waits for it */
export function createSlots(
  limitOf: (agent: string) => number,
  freed: (agent: string) => void,
): Slots {
  const pools = new Map<string, Pool>()
  const holders = new TransientMap<Pool>()

  function poolOf(agent: string): Pool {
    const known = pools.get(agent)
    if (known !== undefined) return known
    const pool = { agent, limit: limitOf(agent), taken: 0, queue: [] }
    pools.set(agent, pool)
    return pool
  }

  function take(agent: string, token: string): boolean {
    if (holders.has(token)) return true
    const pool = poolOf(agent)
    if (pool.taken >= pool.limit) return false
    pool.taken++
    holders.set(token, pool)
    return true
  }

  async function acquire(agent: string, token: string): Promise<void> {
    if (take(agent, token)) return
    const { queue } = poolOf(agent)
    const queued = queue.find((one) => one.token === token) ?? createQueued(token)
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
    const pool = holders.get(token)
    if (pool === undefined) {
      leaveQueue(token)
      return
    }
    holders.delete(token)
    const next = pool.queue.shift()
    if (next === undefined) {
      pool.taken--
      freed(pool.agent)
      return
    }
    holders.set(next.token, pool)
    next.resolve()
  }

  return {
    take,
    acquire,
    free,
    has: (token) => holders.has(token),
    available(agent) {
      const { limit, taken } = poolOf(agent)
      return limit - taken
    },
    used: () => holders.size,
  }
}

function createQueued(token: string): Queued {
  let resolve: () => void = () => undefined
  const over = new Promise<void>((done) => {
    resolve = done
  })
  return { token, over, resolve }
}
