/** The agents that a command serves: those of a module, the script agent, or those of the demo. */
import type { Agent } from '../server/serve.ts'
import { type Flag, type Input, UsageError } from './command.ts'
import { loadAgents } from './input/load-agents.ts'

export const agentSourceFlags: Readonly<Record<string, Flag>> = {
  script: { about: 'Serve the script agent in place of a module' },
  demo: { about: 'Serve the demo agents in place of a module' },
}

export async function agentsFor(input: Input): Promise<readonly Agent[]> {
  const { words, has } = input
  const [file, ...more] = words
  const sources = [file !== undefined, has('script'), has('demo')].filter(Boolean)
  if (sources.length !== 1 || more.length > 0) {
    throw new UsageError('give one module of agents, or --script, or --demo')
  }
  if (file !== undefined) return loadAgents(file)
  if (has('demo')) return (await import('../demo/demo-agents.ts')).demoAgents
  const { scriptAgent } = await import('../testing/script-agent/script-agent.ts')
  return [scriptAgent]
}
