/** Renders an event for a webhook, in the protocol version with which the webhook was created. */
import type { Push } from '../../../core/push.ts'
import { isInterrupted, isTerminal } from '../../../core/states.ts'
import { type WebhookShape, webhookShapes, wholeTask } from '../codec/codec.ts'
import { type Codecs, webhookCodec } from '../codec/codecs.ts'
import { binduEvent } from '../dialects/bindu/bindu-event.ts'
import type { TaskEvent } from '../streams/task-events.ts'
import type { Delivery } from './post.ts'

/** Undefined for events that are not sent to webhooks: reminders are sent only to streams. */
export function deliveryOf(push: Push, event: TaskEvent, codecs: Codecs): Delivery | undefined {
  if (event.kind === 'reminder') return undefined
  const shape = shapeOf(push)
  return {
    tenant: event.task.tenant,
    url: push.url,
    headers: {
      'content-type': shape === '1.0' ? 'application/a2a+json' : 'application/json',
      ...(shape === '1.0' ? { 'a2a-version': '1.0' } : {}),
      ...authorization(push),
      ...(push.token === undefined ? {} : { 'x-a2a-notification-token': push.token }),
    },
    body: JSON.stringify(bodyOf(shape, event, codecs)),
  }
}

/** The shape of a webhook. An unknown one was written by a later version of Lull, and gets 0.3. */
function shapeOf({ version }: Push): WebhookShape {
  return webhookShapes.find((shape) => shape === version) ?? '0.3'
}

/** Renders the body. Receivers of 1.0 get stream events (§4.3.3), receivers of 0.3 whole tasks. */
function bodyOf(
  shape: WebhookShape,
  event: Exclude<TaskEvent, { kind: 'reminder' }>,
  codecs: Codecs,
): unknown {
  if (shape === '0.3-bindu') return binduEvent(event)
  const codec = webhookCodec(codecs, shape)
  if (shape !== '1.0') return codec.task(event.task, wholeTask)
  const { state } = event.task
  const closes = event.kind === 'status' && (isTerminal(state) || isInterrupted(state))
  return codec.event(event, closes)
}

function authorization({ authentication }: Push): Record<string, string> {
  if (authentication === undefined) return {}
  const { scheme, credentials } = authentication
  return { authorization: credentials === undefined ? scheme : `${scheme} ${credentials}` }
}
