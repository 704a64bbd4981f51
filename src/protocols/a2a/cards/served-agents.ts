import type { Agent } from '../../../engine/author/agent.ts'
import { jsonSchemaOf } from '../../../engine/author/standard-schema.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { Engine } from '../../../engine/engine.ts'
import { type Offers, offersOf } from '../../../engine/requests/offers.ts'
import type { Version } from '../addresses/versions.ts'
import type { A2AConfig } from '../config.ts'
import { cardV1, cardV03 } from './agent-card.ts'
import {
  type CardOptions,
  type CardSource,
  type GrpcInterface,
  type SecurityOptions,
  usualModes,
} from './card-options.ts'
import type { SignCard } from './signing-key.ts'

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
    const address = config.grpcAddress
    if (served.size === 0) {
      served.set(
        undefined,
        serveAgent(agent, {
          ...common,
          url: publicUrl,
          scope: undefined,
          grpc: address === undefined ? undefined : { address },
        }),
      )
    }
    const url = `${publicUrl}/agents/${agent.name}`
    const tenant = `agents/${agent.name}`
    const grpc = address === undefined ? undefined : { address, tenant }
    served.set(agent.name, serveAgent(agent, { ...common, url, scope: agent.name, grpc }))
  }
  return served
}

/** An agent with its address and cards on this server. Created once at start. */
export interface ServedAgent {
  readonly name: string
  /**
   * The agent whose tasks the endpoint shows. Undefined at the root, which shows tasks of all
   * agents.
   */
  readonly scope: string | undefined
  readonly offers: Offers
  readonly inputModes: readonly string[]
  readonly card: (version: Version) => object
  /** The extended card. Undefined if the agent has none. */
  readonly extendedCard: (version: Version, caller: Caller) => object | undefined
}

interface ServeOptions {
  readonly url: string
  readonly scope: string | undefined
  readonly grpc: GrpcInterface | undefined
  readonly facts: CardOptions
  readonly security: SecurityOptions
  readonly push: boolean
  readonly consentState: string
  readonly harn: boolean
  /** Absent: cards are not signed. */
  readonly signCard?: SignCard | undefined
}

const cards: Readonly<Record<Version, (source: CardSource) => object>> = {
  '1.0': cardV1,
  '0.3': cardV03,
}

function serveAgent(agent: Agent, options: ServeOptions): ServedAgent {
  const { url, scope, grpc, facts, security, push, consentState, harn } = options
  const { extended } = facts
  const inputModes = facts.inputModes ?? usualModes
  const offers = offersOf(agent)
  const source: CardSource = {
    name: agent.name,
    description: agent.description,
    version: agent.version ?? '1.0.0',
    skills:
      agent.skills === undefined || agent.skills.length === 0 ? [skillOf(agent)] : agent.skills,
    url,
    grpc,
    facts,
    security,
    input: agent.input && jsonSchemaOf(agent.input),
    inputModes,
    outputModes: facts.outputModes ?? ['text/plain', 'application/json'],
    ...offers,
    consent: agent.run !== undefined,
    push,
    extended: extended !== undefined,
    consentState,
    harn,
  }
  // Only cards of 1.0 are signed: a 0.3 card has members beyond the specification, which verifiers
  // drop.
  const renderCard = (version: Version, from: CardSource): object => {
    const card = cards[version](from)
    return version === '1.0' && options.signCard !== undefined ? options.signCard(card) : card
  }
  return {
    name: agent.name,
    scope,
    offers,
    inputModes,
    card: (version) => renderCard(version, source),
    extendedCard(version) {
      if (extended === undefined) return undefined
      return renderCard(version, {
        ...source,
        description: extended.description ?? source.description,
        skills: [...source.skills, ...(extended.skills ?? [])],
      })
    },
  }
}

/** The default skill of an agent. A card needs at least one (§5.7). */
function skillOf({ name, description }: Agent): CardSource['skills'][number] {
  return { id: name, name, description, tags: [name] }
}
