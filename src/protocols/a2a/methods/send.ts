/** What both ways of sending share: reading the request, one engine call, the webhook that may come with it. */
import type { JsonObject } from '../../../core/json.ts'
import type { Message } from '../../../core/message.ts'
import type { Sent } from '../../../engine/sending/sent.ts'
import type { A2AContext, Call } from '../call.ts'
import type { SendConfiguration } from '../codec/codec.ts'
import { A2AError } from '../faults.ts'
import { invalid, optionalJsonObject, optionalObject } from '../params.ts'
import { ownTask } from './own-task.ts'

const KEY = 'a2a-idempotency-key'

const plain: SendConfiguration = { immediate: false }

export async function send(
  a2a: A2AContext,
  call: Call,
): Promise<{ readonly sent: Sent; readonly configuration: SendConfiguration }> {
  const { codec, params, caller, agent } = call
  if (params['message'] === undefined || params['message'] === null) {
    throw invalid('message', 'is required')
  }
  const message = codec.readMessage(params['message'])
  const given = optionalObject(params, 'configuration')
  const configuration = given === undefined ? plain : codec.readConfiguration(given)
  const metadata = optionalJsonObject(params, 'metadata')
  checkMediaTypes(agent.inputModes, message)
  // An agent's endpoint continues that agent's tasks only; the engine would find any of the caller's.
  if (agent.scope !== undefined && typeof message?.taskId === 'string') {
    await ownTask(a2a, call, message.taskId)
  }
  const target = configuration.push
  if (target !== undefined) a2a.pushes?.check(target)
  const sent = await a2a.engine.send(caller, {
    agent: agent.name,
    message,
    idempotencyKey: call.idempotencyKey ?? keyIn(metadata) ?? keyIn(message.metadata),
    metadata,
    origin: 'a2a',
  })
  if (target !== undefined && sent.kind === 'task') {
    const isNew = message.taskId === undefined && !sent.repeated
    await pushesOf(a2a).set(sent.task, codec.version, target, isNew ? 0 : sent.task.version)
  }
  return { sent, configuration }
}

export function pushesOf({ pushes }: A2AContext): NonNullable<A2AContext['pushes']> {
  if (pushes !== undefined) return pushes
  throw new A2AError(
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'This agent does not send push notifications',
  )
}

function keyIn(metadata: JsonObject | undefined): string | undefined {
  const key = metadata?.[KEY]
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** A part that names a media type the agent does not take (§3.3.2, ContentTypeNotSupported). */
function checkMediaTypes(accepted: readonly string[], message: Message): void {
  if (!Array.isArray(message?.parts)) return
  for (const part of message.parts) {
    const type = part?.mediaType
    if (typeof type !== 'string' || type === '' || accepts(accepted, type)) continue
    throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `This agent does not take ${type}`, {
      mediaType: type,
    })
  }
}

function accepts(accepted: readonly string[], given: string): boolean {
  const type = (given.split(';')[0] ?? '').trim().toLowerCase()
  return accepted.some(
    (mode) =>
      mode === type ||
      mode === '*/*' ||
      (mode.endsWith('/*') && type.startsWith(mode.slice(0, -1))),
  )
}
