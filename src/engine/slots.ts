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

export function createSlots(
  limitOf: (agent: string) => number,
  freed: (agent: string) => void,
): Slots {
  const holders = new ById<string>()
  const used = new Map<string, number>()
  const available = (agent: string): number => limitOf(agent) - (used.get(agent) ?? 0)

  return {
    take(agent, token) {
      if (holders.has(token)) return true
      if (available(agent) <= 0) return false
      holders.set(token, agent)
      used.set(agent, (used.get(agent) ?? 0) + 1)
      return true
    },
    free(token) {
      const agent = holders.get(token)
      if (agent === undefined) return
      holders.delete(token)
      used.set(agent, (used.get(agent) ?? 1) - 1)
      freed(agent)
    },
    available,
    used: () => holders.size,
  }
}
