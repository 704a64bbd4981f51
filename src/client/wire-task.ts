/** What an A2A 1.0 server tells of a task, and what our extensions say about it beside the core state. */
import type { Json, JsonObject } from '../core/json.ts'
import type { Artifact, Message } from '../core/message.ts'
import { type State, states } from '../core/states.ts'

export interface WireStatus {
  readonly state: string
  readonly message?: Message
  readonly timestamp?: string
}

export interface WireTask {
  readonly id: string
  readonly contextId: string
  readonly status: WireStatus
  readonly artifacts?: readonly Artifact[]
  readonly history?: readonly Message[]
  readonly metadata?: JsonObject
}

export interface StatusUpdate {
  readonly taskId: string
  readonly contextId: string
  readonly status: WireStatus
  readonly metadata?: JsonObject
}

export interface ArtifactUpdate {
  readonly taskId: string
  readonly contextId: string
  readonly artifact: Artifact
  readonly append?: boolean
  readonly lastChunk?: boolean
}

/** One frame of a stream; exactly one member is there. */
export interface StreamFrame {
  readonly task?: WireTask
  readonly message?: Message
  readonly statusUpdate?: StatusUpdate
  readonly artifactUpdate?: ArtifactUpdate
}

export interface WirePage {
  readonly tasks: readonly WireTask[]
  readonly nextPageToken: string
  readonly totalSize: number
}

const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
const PROGRESS = 'urn:lull:a2a:progress:1'

/** What a client asks for, so that the server tells all it knows. */
export const extensions: readonly string[] = [TASK_CONTROL, USER_CONSENT]

/** The state in our words: an extension that says more than the core state wins. */
export function stateOf(of: Pick<WireTask, 'status' | 'metadata'>): State | string {
  const core = of.status.state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  // Metadata is never deleted, so it counts only while the core state is one that it can refine.
  if (core === 'working') return refined(of.metadata, TASK_CONTROL) ?? core
  if (core === 'auth-required' || core === 'input-required') {
    return refined(of.metadata, USER_CONSENT) ?? core
  }
  return core
}

function refined(metadata: JsonObject | undefined, extension: string): State | undefined {
  const said = factsOf(metadata, extension)?.['state']
  return states.find((state) => state === said)
}

/** A core state that the wire knows. */
export function toWireState(state: State): string {
  const core: Partial<Record<State, string>> = {
    'paused-by-client': 'working',
    'paused-by-agent': 'working',
    'user-consent-required': 'auth-required',
  }
  return `TASK_STATE_${(core[state] ?? state).toUpperCase().replaceAll('-', '_')}`
}

/** The current stop: handle, reason, conditions, deadline. */
export function suspensionOf(metadata: JsonObject | undefined): JsonObject | undefined {
  return factsOf(metadata, TASK_CONTROL)
}

export function consentOf(metadata: JsonObject | undefined): JsonObject | undefined {
  return factsOf(metadata, USER_CONSENT)
}

/** From 0 to 1. */
export function progressOf(metadata: JsonObject | undefined): number | undefined {
  const fraction = factsOf(metadata, PROGRESS)?.['fraction']
  return typeof fraction === 'number' ? fraction : undefined
}

function factsOf(metadata: JsonObject | undefined, extension: string): JsonObject | undefined {
  const facts: Json | undefined = metadata?.[extension]
  return typeof facts === 'object' && facts !== null && !Array.isArray(facts)
    ? (facts as JsonObject)
    : undefined
}
