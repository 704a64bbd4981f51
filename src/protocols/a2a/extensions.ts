/** The extensions we speak, and how a request turns them on (A2A 1.0 §3.2.6, `A2A-Extensions`). */
import type { HttpRequest } from '../../wire/http.ts'

export const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
export const REMINDERS = 'urn:lull:a2a:reminders:1'
export const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
/** The RFCs' JSON-RPC notifications between the ordinary frames of a stream. Without it they are never sent. */
export const RFC_NOTIFICATIONS = 'urn:lull:a2a:rfc-notifications:1'
/** How far a task is, on the status updates of agents that say so. */
export const PROGRESS = 'urn:lull:a2a:progress:1'

/** On artifact updates: the artifact is the stream of a step, and how it stands. */
export const STREAMS = 'urn:lull:a2a:streams:1'

const known: ReadonlySet<string> = new Set([
  TASK_CONTROL,
  REMINDERS,
  USER_CONSENT,
  RFC_NOTIFICATIONS,
])

const none: ReadonlySet<string> = new Set()

/** Of what the request asks for, what we have. Both spellings of the header are read in both versions. */
export function activated(request: HttpRequest): ReadonlySet<string> {
  const asked = request.header('a2a-extensions') ?? request.header('x-a2a-extensions')
  if (asked === undefined) return none
  return new Set(
    asked
      .split(',')
      .map((uri) => uri.trim())
      .filter((uri) => known.has(uri)),
  )
}
