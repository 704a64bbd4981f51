/** What a card says beyond what the agent itself declares. The server fills it in from its configuration. */
import type { Skill } from '../../../engine/agent.ts'

export interface SecurityOptions {
  /** API keys in this header. */
  readonly apiKey?: { readonly header: string }
  /** Bearer tokens; `openIdUrl` when they come from an OpenID provider. */
  readonly bearer?: { readonly format?: string; readonly openIdUrl?: string }
}

export interface CardOptions {
  readonly provider?: { readonly organization: string; readonly url: string }
  readonly documentationUrl?: string
  readonly iconUrl?: string
  /** Media types; `image/*` and the like are understood. */
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  /** Shown to callers who authenticated, beside the public skills. */
  readonly extended?: { readonly description?: string; readonly skills?: readonly Skill[] }
}

/** What an agent that says nothing takes: text, data, and the usual files. */
export const usualModes: readonly string[] = [
  'text/plain',
  'text/markdown',
  'text/html',
  'text/csv',
  'application/json',
  'application/pdf',
  'application/octet-stream',
  'image/*',
  'audio/*',
  'video/*',
]

/** What a card is made of. */
export interface CardSource {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly skills: readonly Skill[]
  readonly url: string
  readonly facts: CardOptions
  readonly security: SecurityOptions
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly pause: boolean
  readonly reminders: boolean
  /** Whether the agent has tasks that can ask for consent. */
  readonly consent: boolean
  readonly push: boolean
  readonly extended: boolean
  readonly consentState: string
  readonly harn: boolean
}
