/**
 * Binds events to the credential they came with.
 *
 * E1  An event of a caller wakes only tasks of its principal, unless the caller has `events:write:all`.
 * E2  Source and id identify an event only among those of its sender. So no sender can block ids of
 *     another one.
 * E3  A credential that is bound to sources sends events of these sources only.
 *
 * The server sets the attributes that express this; values given by a sender are dropped. Events of
 * the owner of the process get no sender.
 */

import { LullError } from '../../core/errors.ts'
import { type CloudEvent, REACH, SENDER } from '../../core/waiting/cloud-event.ts'
import { type Identity, may, owner } from './identity.ts'

/**
 * Sets these attributes.
 * @throws LullError `FORBIDDEN` for a source that the credential may not use
 */
export function sentBy(identity: Identity, events: readonly CloudEvent[]): readonly CloudEvent[] {
  for (const event of events) checkSource(identity, event)
  const isOwner = identity === owner
  const set = {
    ...(isOwner ? {} : { [SENDER]: identity.principal }),
    ...(may(identity, 'events:write:all') ? {} : { [REACH]: 'own' }),
  }
  return events.map((event) => {
    // Passed on unchanged: the engine reports what is wrong with something that is not an event.
    if (typeof event !== 'object' || event === null || Array.isArray(event)) return event
    const { [SENDER]: _sender, [REACH]: _reach, ...rest } = event
    return { ...rest, ...set } as CloudEvent
  })
}

function checkSource({ eventSources }: Identity, event: CloudEvent | null): void {
  if (eventSources === undefined) return
  const source: unknown = event?.source
  if (typeof source === 'string' && eventSources.includes(source)) return
  const names = eventSources.join(', ')
  throw new LullError('FORBIDDEN', { scope: `events:write for another source than ${names}` })
}
