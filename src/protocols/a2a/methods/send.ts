/** What both ways of sending share: reading the request, one engine call, the webhook that may come with it. */
import type { JsonObject } from '../../../core/json.ts'
import type { Message } from '../../../core/message.ts'
import type { Task } from '../../../core/task.ts'
import type { ReminderRequest } from '../../../engine/requests.ts'
import type { Sent } from '../../../engine/sending/sent.ts'
import type { A2AContext, Call } from '../call.ts'
import type { SendConfiguration } from '../codec/codec.ts'
import { A2AError } from '../faults.ts'
import { type HarnOperations, harnIn, isBlank } from '../harn/harn-in.ts'
import { invalid, optionalJsonObject, optionalObject } from '../params.ts'
import { ownTask } from './own-task.ts'

const KEY = 'a2a-idempotency-key'

const plain: SendConfiguration = { immediate: false }

export interface SendOutcome {
  readonly sent: Sent
  readonly configuration: SendConfiguration
}

export async function send(a2a: A2AContext, call: Call): Promise<SendOutcome> {
  const { codec, params, agent } = call
  if (params['message'] === undefined || params['message'] === null) {
    throw invalid('message', 'is required')
  }
  const message = withTask(codec.readMessage(params['message']), params['id'])
  const settings = optionalObject(params, 'configuration')
  const configuration = settings === undefined ? plain : codec.readConfiguration(settings)
  const metadata = optionalJsonObject(params, 'metadata')
  checkMediaTypes(agent.inputModes, message)
  // An agent's endpoint continues that agent's tasks only; the engine would find any of the caller's.
  if (agent.scope !== undefined && typeof message?.taskId === 'string') {
    await ownTask(a2a, call, message.taskId)
  }
  if (configuration.push !== undefined) pushesOf(a2a).check(configuration.push)
  const harn = a2a.harnTunnel ? harnIn(metadata, message) : undefined
  const given: Given = { message, metadata, configuration }
  if (harn !== undefined) return tunnelled(a2a, call, given, harn)
  return { sent: await deliver(a2a, call, given), configuration }
}

interface Given {
  readonly message: Message
  readonly metadata: JsonObject | undefined
  readonly configuration: SendConfiguration
  readonly reminders?: readonly ReminderRequest[] | undefined
}

/** The operation, and the message too unless it says nothing. A reminder comes with it: the turn that hears it sees both. */
async function tunnelled(
  a2a: A2AContext,
  call: Call,
  given: Given,
  { pause, resume, reminder }: HarnOperations,
): Promise<SendOutcome> {
  const { engine } = a2a
  const { caller } = call
  const { message, configuration } = given
  // The tunnel is another way to the control methods, not a way around their scope.
  if (!call.may('tasks:control')) {
    throw new A2AError('FORBIDDEN', 'This needs the scope tasks:control', {
      scope: 'tasks:control',
    })
  }
  const blank = isBlank(message)
  if (blank && message.taskId === undefined) throw invalid('message.taskId', 'is required')
  const reminders = reminder === undefined ? undefined : [reminder]
  const sent = blank ? undefined : await deliver(a2a, call, { ...given, reminders })
  if (sent?.kind === 'message') return { sent, configuration }
  const taskId = sent?.task.id ?? message.taskId ?? ''
  if (blank && reminder !== undefined) await engine.remind(caller, { taskId, reminder })
  if (pause !== undefined) await engine.pause(caller, { ...pause, taskId } as never)
  if (resume !== undefined) await engine.resume(caller, { ...resume, taskId } as never)
  const task = await engine.get(caller, taskId)
  if (blank) await ensurePush(a2a, call, task, configuration)
  const settings = blank ? { ...configuration, immediate: true } : configuration
  return {
    sent: { kind: 'task', task, rest: [], latest: task, repeated: sent?.repeated ?? false },
    configuration: settings,
  }
}

async function deliver(a2a: A2AContext, call: Call, given: Given): Promise<Sent> {
  const { caller, agent, codec } = call
  const { message, metadata, configuration, reminders } = given
  const key = call.request.header('idempotency-key')
  const request = {
    agent: agent.name,
    message,
    idempotencyKey: key ?? keyIn(metadata) ?? keyIn(message?.metadata),
    metadata,
    origin: codec.origin,
    reminders,
  }
  const target = configuration.push
  if (target === undefined) return a2a.engine.send(caller, request)
  const pushes = pushesOf(a2a)
  const sent = await a2a.engine.send(caller, request, {
    push: pushes.along(codec.version, target),
  })
  if (sent.kind !== 'task') return sent
  if (sent.repeated) await ensurePush(a2a, call, sent.task, configuration)
  else pushes.begin(sent.task.id)
  return sent
}

/** Where nothing was written that the webhook could have come with. */
async function ensurePush(
  a2a: A2AContext,
  { codec }: Call,
  task: Task,
  { push }: SendConfiguration,
): Promise<void> {
  if (push !== undefined) await pushesOf(a2a).ensure(task, codec.version, push)
}

/**
 * 0.1 put the task's id beside the message and let the client choose it. Naming one of ours continues that task; one
 * that the client made up is not found.
 */
function withTask(message: Message, id: unknown): Message {
  if (typeof id !== 'string' || id === '' || message?.taskId !== undefined) return message
  return { ...message, taskId: id }
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
