/**
 * How many tasks of each agent run at the same time. A slot belongs to a run token from the moment it is minted, so that
 * two calls that both want to set a task going never share one or give back each other's.
 */
import { TransientMap } from './transient-map.ts'

export interface Slots {
  /** Takes one for the token if there is one. */
  take(agent: string, token: string): boolean
  /** Gives it back; nothing happens for a token that has none. */
  free(token: string): void
  readonly available: (agent: string) => number
  readonly used: () => number
}

/** The slots of one agent. */
interface Pool {
  readonly agent: string
  readonly limit: number
  taken: number
}

export function createSlots(
  limitOf: (agent: string) => number,
  freed: (agent: string) => void,
): Slots {
  const pools = new Map<string, Pool>()
  const holders = new TransientMap<Pool>()

  function poolOf(agent: string): Pool {
    const known = pools.get(agent)
    if (known !== undefined) return known
    const pool = { agent, limit: limitOf(agent), taken: 0 }
    pools.set(agent, pool)
    return pool
  }

  return {
    take(agent, token) {
      if (holders.has(token)) return true
      const pool = poolOf(agent)
      if (pool.taken >= pool.limit) return false
      pool.taken++
      holders.set(token, pool)
      return true
    },
    free(token) {
      const pool = holders.get(token)
      if (pool === undefined) return
      holders.delete(token)
      pool.taken--
      freed(pool.agent)
    },
    available(agent) {
      const { limit, taken } = poolOf(agent)
      return limit - taken
    },
    used: () => holders.size,
  }
}
