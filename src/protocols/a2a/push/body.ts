/** What a webhook gets for an event, by the version under which its config was made. */
import type { Push } from '../../../core/push.ts'
import { isInterrupted, isTerminal } from '../../../core/states.ts'
import { type Codec, wholeTask } from '../codec/codec.ts'
import type { TaskEvent } from '../task-events.ts'
import type { Version } from '../versions.ts'
import type { Delivery } from './post.ts'

/** Undefined for what is not pushed: reminders are for streams. */
export function deliveryOf(
  push: Push,
  event: TaskEvent,
  codecs: Readonly<Record<Version, Codec>>,
): Delivery | undefined {
  if (event.kind === 'reminder') return undefined
  const isV1 = push.version === '1.0'
  const codec = codecs[isV1 ? '1.0' : '0.3']
  const { state } = event.task
  const closes = event.kind === 'status' && (isTerminal(state) || isInterrupted(state))
  // 1.0 §4.3.3 sends what a stream would; 0.3 receivers know whole tasks only.
  const body = isV1 ? codec.event(event, closes) : codec.task(event.task, wholeTask)
  return {
    url: push.url,
    headers: {
      'content-type': isV1 ? 'application/a2a+json' : 'application/json',
      ...(isV1 ? { 'a2a-version': '1.0' } : {}),
      ...authorization(push),
      ...(push.token === undefined ? {} : { 'x-a2a-notification-token': push.token }),
    },
    body: JSON.stringify(body),
  }
}

function authorization({ authentication }: Push): Record<string, string> {
  if (authentication === undefined) return {}
  const { scheme, credentials } = authentication
  return { authorization: credentials === undefined ? scheme : `${scheme} ${credentials}` }
}
