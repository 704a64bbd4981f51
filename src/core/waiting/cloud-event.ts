import type { Json } from '../values/json.ts'

/** An external event, as in CloudEvents 1.0. Extension attributes are further top-level keys. */
export interface CloudEvent {
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject?: string
  /** When the event happened, as its source says, in ISO 8601. */
  readonly time?: string
  readonly data?: Json
  readonly [attribute: string]: Json | undefined
}

/** An event with its position in the tenant's stream. Positions grow in the order of arrival. */
export interface StoredEvent {
  readonly pos: number
  readonly tenant: string
  readonly receivedAt: number
  readonly event: CloudEvent
}

/** The attribute with the principal whose credential the event came with. Set by the server. */
export const SENDER = 'lullsender'
/** The attribute that is `own` if the event wakes only tasks of its sender. Set by the server. */
export const REACH = 'lullreach'

/**
 * What identifies an event within a tenant. It includes the sender, because two senders may use the
 * same source and id.
 */
export function identityOf(event: CloudEvent): { readonly source: string; readonly id: string } {
  const { source, id, [SENDER]: sender } = event
  return { source: typeof sender === 'string' ? `${source}\n${sender}` : source, id }
}

/** Whether the event may wake tasks of this principal. */
export function reaches(event: CloudEvent, principal: string): boolean {
  return event[REACH] === undefined || event[SENDER] === principal
}

/** The names under which an event can be waited for: its type, and `type:subject`. */
export function namesOf(event: CloudEvent): readonly string[] {
  return event.subject === undefined ? [event.type] : [event.type, `${event.type}:${event.subject}`]
}
