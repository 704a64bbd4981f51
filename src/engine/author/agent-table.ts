/**
 * The agents of this process by name, and replaced agents that are not closed yet.
 *
 * AT1  A replaced agent is closed once: when no run in memory and no other work uses it any more, at the latest when the
 *      engine stops.
 * AT2  An agent that is in the table is closed only when the engine stops.
 */
import { LullError } from '../../core/errors.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent } from './agent.ts'

export interface AgentTable {
  /** One object for all parts of the engine. Its content changes when agents are replaced. */
  readonly agents: ReadonlyMap<string, Agent>
  /**
   * Replaces all agents.
   * @throws LullError `INVALID_INPUT` when two have the same name
   */
  replace(given: readonly Agent[]): void
  /**
   * Sets the function that returns the agents used by runs in memory. Returns a function to call
   * when one of these runs has ended.
   */
  usedBy(inUse: () => ReadonlySet<Agent>): () => void
  /**
   * Runs work that uses the agent outside of a run. The agent is not closed before the work has
   * ended.
   */
  during<T>(agent: Agent, work: () => Promise<T>): Promise<T>
  /** Closes every agent. Resolves when agents that were already closing have closed too. */
  closeAll(): Promise<void>
}

export function createAgentTable(first: readonly Agent[], log: Log): AgentTable {
  const agents = byName(first)
  const replaced = new Set<Agent>()
  const closing = new Set<Promise<void>>()
  /** The number of such calls under way for each agent. */
  const busy = new Map<Agent, number>()
  let used: () => ReadonlySet<Agent> = () => new Set()

  function close(agent: Agent): void {
    replaced.delete(agent)
    const closed = closeSafely(agent, log).finally(() => closing.delete(closed))
    closing.add(closed)
  }

  function closeUnused(): void {
    if (replaced.size === 0) return
    const inUse = used()
    for (const agent of replaced) if (!inUse.has(agent) && !busy.has(agent)) close(agent)
  }

  return {
    agents,
    replace(given) {
      const next = byName(given)
      for (const agent of agents.values()) replaced.add(agent)
      agents.clear()
      for (const [name, agent] of next) {
        agents.set(name, agent)
        replaced.delete(agent)
      }
      closeUnused()
    },
    usedBy(inUse) {
      used = inUse
      return closeUnused
    },
    async during(agent, work) {
      busy.set(agent, (busy.get(agent) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const others = (busy.get(agent) ?? 1) - 1
        if (others > 0) busy.set(agent, others)
        else busy.delete(agent)
        closeUnused()
      }
    },
    async closeAll() {
      for (const agent of [...agents.values(), ...replaced]) close(agent)
      await Promise.all(closing)
    },
  }
}

async function closeSafely(agent: Agent, log: Log): Promise<void> {
  try {
    await agent.close?.()
  } catch (error) {
    log('warn', 'an agent failed to close', { agent: agent.name, error })
  }
}

function byName(agents: readonly Agent[]): Map<string, Agent> {
  const named = new Map(agents.map((agent) => [agent.name, agent]))
  if (named.size === agents.length) return named
  const problem = 'two agents bear the same name'
  throw new LullError('INVALID_INPUT', { path: 'agents', problem })
}
