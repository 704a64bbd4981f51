/**
 * How many tasks of each agent run at the same time. A slot belongs to a run token from the moment it is minted, so that
 * two calls that both want to set a task going never share one or give back each other's.
 */
import { ById } from './by-id.ts'

export interface Slots {
  /** Takes one for the token if there is one. */
  take(agent: string, token: string): boolean
  /** Gives it back; nothing happens for a token that has none. */
  free(token: string): void
  readonly available: (agent: string) => number
  readonly used: () => number
}

/** Those of one agent. */
interface Desk {
  readonly agent: string
  readonly limit: number
  taken: number
}

export function createSlots(
  limitOf: (agent: string) => number,
  freed: (agent: string) => void,
): Slots {
  const desks = new Map<string, Desk>()
  const holders = new ById<Desk>()

  function deskOf(agent: string): Desk {
    const known = desks.get(agent)
    if (known !== undefined) return known
    const desk = { agent, limit: limitOf(agent), taken: 0 }
    desks.set(agent, desk)
    return desk
  }

  return {
    take(agent, token) {
      if (holders.has(token)) return true
      const desk = deskOf(agent)
      if (desk.taken >= desk.limit) return false
      desk.taken++
      holders.set(token, desk)
      return true
    },
    free(token) {
      const desk = holders.get(token)
      if (desk === undefined) return
      holders.delete(token)
      desk.taken--
      freed(desk.agent)
    },
    available(agent) {
      const { limit, taken } = deskOf(agent)
      return limit - taken
    },
    used: () => holders.size,
  }
}
