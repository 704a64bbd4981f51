/**
 * Content of a card that the agent does not declare itself. The server reads it from its
 * configuration.
 */
import type { JsonObject } from '../../../core/values/json.ts'
import type { Skill } from '../../../engine/author/agent.ts'

export interface SecurityOptions {
  /** Clients send API keys as bearer tokens. */
  readonly bearerKeys?: boolean
  /** Clients show a certificate. */
  readonly mutualTls?: boolean
  /** Clients send API keys in this header. */
  readonly apiKey?: { readonly header: string }
  /** Clients send bearer tokens. `openIdUrl` names the OpenID provider, if there is one. */
  readonly bearer?: { readonly format?: string; readonly openIdUrl?: string }
}

export interface CardOptions {
  readonly provider?: { readonly organization: string; readonly url: string }
  readonly documentationUrl?: string
  readonly iconUrl?: string
  /** Media types. Ranges such as `image/*` are allowed. */
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  /** What authenticated callers see in addition to the public card. */
  readonly extended?: { readonly description?: string; readonly skills?: readonly Skill[] }
}

/** The input modes of an agent that declares none: text, data and common file types. */
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

/** A gRPC interface: the address as `host:port`, and the tenant that selects the agent. */
export interface GrpcInterface {
  readonly address: string
  readonly tenant?: string
}

/** The content of a card, independent of the version of A2A. */
export interface CardSource {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly skills: readonly Skill[]
  readonly url: string
  /** How clients reach the agent over gRPC. Absent: they do not. */
  readonly grpc: GrpcInterface | undefined
  readonly facts: CardOptions
  readonly security: SecurityOptions
  /** The JSON Schema of a message that starts a task. */
  readonly input: JsonObject | undefined
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly pause: boolean
  readonly reminders: boolean
  /** Whether tasks of the agent can ask for consent. */
  readonly consent: boolean
  readonly push: boolean
  readonly extended: boolean
  readonly consentState: string
  readonly harn: boolean
}
