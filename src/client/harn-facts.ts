/** `metadata.harn.pause` of peers without the extension: the same facts in snake_case (RFC, "migration"). */
import type { JsonObject } from '../core/json.ts'
import { camelConditions } from '../core/worker-suspension.ts'
import { memberOf, numberIn, objectIn, present, textIn } from './wire/json-members.ts'

/** Converts to the shape of the task-control extension. */
export function harnFacts(metadata: JsonObject): JsonObject | undefined {
  const pause = objectIn(objectIn(metadata, 'harn'), 'pause')
  const handle = textIn(pause, 'handle')
  const state = textIn(pause, 'state')
  if (pause === undefined || handle === undefined || state === undefined) return undefined
  const initiator = textIn(pause, 'initiator') === 'agent' ? 'agent' : 'client'
  const at = numberIn(pause, 'suspended_at_ms')
  const when = objectIn(pause, 'resume_when')
  return present<Record<string, JsonObject[string]>>({
    // Some peers send `paused` and name the initiator separately.
    state: state === 'paused' ? `paused-by-${initiator}` : state,
    pausing: memberOf(pause, 'pausing'),
    handle,
    initiator,
    reason: textIn(pause, 'reason'),
    pausedAt: at === undefined || !(Math.abs(at) <= LAST_MS) ? undefined : isoOf(at),
    conditions: camelConditions(when) as JsonObject | undefined,
  })
}

/** The latest instant of a `Date`. */
const LAST_MS = 8_640_000_000_000_000

const isoOf = (at: number): string => new Date(at).toISOString()
