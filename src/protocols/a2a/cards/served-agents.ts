import type { Engine } from '../../../engine/engine.ts'
import type { A2AConfig } from '../config.ts'
import type { CardOptions, SecurityOptions } from './card-options.ts'
import { type ServedAgent, serveAgent } from './served-agent.ts'
import type { SignCard } from './sign-card.ts'

/** Agents by name. The entry with key undefined is the first agent, at the root of the server. */
export type ServedAgents = ReadonlyMap<string | undefined, ServedAgent>

export interface ServedAgentsOptions {
  readonly engine: Pick<Engine, 'agents'>
  readonly publicUrl: string
  readonly agents?: Readonly<Record<string, CardOptions>>
  readonly security?: SecurityOptions
}

/** @param push whether the cards offer push notifications */
export function servedAgents(
  options: ServedAgentsOptions,
  config: A2AConfig,
  push: boolean,
  signCard?: SignCard,
): ServedAgents {
  const { engine, publicUrl, agents: facts = {}, security = {} } = options
  const served = new Map<string | undefined, ServedAgent>()
  for (const agent of engine.agents.values()) {
    const common = {
      facts: facts[agent.name] ?? {},
      security,
      push,
      harn: config.harnTunnel,
      consentState: config.consentState,
      signCard,
    }
    if (served.size === 0) {
      served.set(undefined, serveAgent(agent, { ...common, url: publicUrl, scope: undefined }))
    }
    const url = `${publicUrl}/agents/${agent.name}`
    served.set(agent.name, serveAgent(agent, { ...common, url, scope: agent.name }))
  }
  return served
}
