/** An agent with its address and cards on this server. Created once at start. */
import type { Agent } from '../../../engine/author/agent.ts'
import { jsonSchemaOf } from '../../../engine/author/standard-schema.ts'
import type { Caller } from '../../../engine/caller.ts'
import { type Offers, offersOf } from '../../../engine/requests/offers.ts'
import type { Version } from '../addresses/versions.ts'
import {
  type CardOptions,
  type CardSource,
  type SecurityOptions,
  usualModes,
} from './card-options.ts'
import { cardV1 } from './card-v1.ts'
import { cardV03 } from './card-v03.ts'
import type { SignCard } from './sign-card.ts'

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

export interface ServeOptions {
  readonly url: string
  readonly scope: string | undefined
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

export function serveAgent(agent: Agent, options: ServeOptions): ServedAgent {
  const { url, scope, facts, security, push, consentState, harn } = options
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
  const made = (version: Version, from: CardSource): object => {
    const card = cards[version](from)
    return version === '1.0' && options.signCard !== undefined ? options.signCard(card) : card
  }
  return {
    name: agent.name,
    scope,
    offers,
    inputModes,
    card: (version) => made(version, source),
    extendedCard(version) {
      if (extended === undefined) return undefined
      return made(version, {
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
