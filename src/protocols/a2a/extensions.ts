/**
 * The supported extensions, and how a request activates them (A2A 1.0 §3.2.6, `A2A-Extensions`).
 */
import type { HttpRequest } from '../../http/http.ts'

export const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
export const REMINDERS = 'urn:lull:a2a:reminders:1'
export const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
/**
 * JSON-RPC notifications of the RFCs, sent between the frames of a stream only if this extension is
 * active.
 */
export const RFC_NOTIFICATIONS = 'urn:lull:a2a:rfc-notifications:1'
/** The progress of a task, on status updates of agents that report progress. */
export const PROGRESS = 'urn:lull:a2a:progress:1'

/** The signed receipts of a task. */
export const RECEIPTS = 'urn:lull:a2a:receipts:1'

/** The usage of a task so far, on tasks and status updates of agents that report usage. */
export const USAGE = 'urn:lull:a2a:usage:1'

/** The JSON Schema of a message that starts a task, on cards of agents that have one. */
export const INPUT = 'urn:lull:a2a:input:1'

/**
 * On artifact updates: marks the artifact as the stream of a step, with the state of the stream.
 */
export const STREAMS = 'urn:lull:a2a:streams:1'

/** On gRPC streams: the id of a frame, which server-sent events have beside it. */
export const CURSOR = 'urn:lull:a2a:cursor:1'

const known: ReadonlySet<string> = new Set([
  TASK_CONTROL,
  REMINDERS,
  USER_CONSENT,
  RFC_NOTIFICATIONS,
  CURSOR,
])

const none: ReadonlySet<string> = new Set()

/**
 * The requested extensions that Lull supports. Both names of the header are accepted in both
 * versions.
 */
export function activated(request: Pick<HttpRequest, 'header'>): ReadonlySet<string> {
  const asked = request.header('a2a-extensions') ?? request.header('x-a2a-extensions')
  if (asked === undefined) return none
  return new Set(
    asked
      .split(',')
      .map((uri) => uri.trim())
      .filter((uri) => known.has(uri)),
  )
}
