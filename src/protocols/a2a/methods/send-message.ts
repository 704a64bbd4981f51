/**
 * `SendMessage` / `message/send` (A2A 1.0 §3.1.1), which waits for the task unless the request says otherwise (§3.2.2),
 * and `SendStreamingMessage` / `message/stream` (§3.1.2). Both make one engine call, which also creates the webhook that
 * the request may contain.
 */

import type { Message } from '../../../core/messages/message.ts'
import type { PushTarget } from '../../../core/push.ts'
import { isInterrupted, isPaused, isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { check } from '../../../engine/input/parse.ts'
import type { ReminderRequest, SendRequest } from '../../../engine/input/requests.ts'
import type { SendResult } from '../../../engine/requests/send/send-result.ts'
import { verbs } from '../../../engine/requests/verbs.ts'
import { frameText } from '../../../http/event-stream.ts'
import { invalid, optionalJsonObject, optionalObject } from '../addresses/params.ts'
import type { A2AContext, Call, Method } from '../call.ts'
import type { SendConfiguration } from '../codec/codec.ts'
import { type HarnOperations, harnIn, isBlank } from '../dialects/harn.ts'
import { A2AError } from '../errors/faults.ts'
import { TASK_CONTROL } from '../extensions.ts'
import { createEnding } from '../streams/closing.ts'
import { readCursor } from '../streams/frames.ts'
import { taskStream } from '../streams/stream.ts'
import { checkStarter, ownTask, taskToWrite } from './tasks.ts'

export const sendMessage: Method = {
  scope: verbs.send.scope,
  act: verbs.send.act,
  async run(a2a, call) {
    const sending = readSending(a2a, call)
    const sent = await send(a2a, call, sending)
    if (sent.kind === 'message') return { value: call.codec.sentMessage(sent.message) }
    const { configuration } = sending
    const view = { historyLength: configuration.historyLength, withArtifacts: true }
    const { task, latest } = sent
    // A send to a task that is already stopped returns at once. A send during which the task stops keeps waiting.
    if (configuration.immediate || isPaused(task.state) || isSettled(call, latest)) {
      return { value: call.codec.sentTask(latest, view) }
    }
    return { value: call.codec.sentTask(await settledTask(a2a, call, latest), view) }
  },
}

/** The task when it is settled, when the client disconnects, or when the server closes. */
async function settledTask({ engine, closing }: A2AContext, call: Call, task: Task): Promise<Task> {
  const signal = createEnding()
  const stay = call.request.onGone(signal.close)
  closing.add(signal)
  try {
    return await engine.waitFor(call.caller, task.id, (now) => isSettled(call, now), { signal })
  } finally {
    closing.delete(signal)
    stay()
  }
}

/**
 * A blocking call returns when the task stops only if its caller can see the stop: in the states of the RFCs, or in the
 * extension that it activated. Any other client would take `working` for the end.
 */
function isSettled({ codec, active }: Call, { state }: Task): boolean {
  if (isTerminal(state) || isInterrupted(state)) return true
  return isPaused(state) && (codec.states === 'rfc' || active.has(TASK_CONTROL))
}

const KEY = 'a2a-idempotency-key'

const plain: SendConfiguration = { immediate: false }

/** The parsed request of a send. */
interface Sending {
  readonly message: Message
  readonly metadata: JsonObject | undefined
  readonly configuration: SendConfiguration
  /** The operations in `metadata.harn`, if any. */
  readonly harn: HarnOperations | undefined
}

/** @throws LullError, A2AError */
export function readSending(a2a: A2AContext, call: Call): Sending {
  const { codec, params, agent } = call
  if (params['message'] === undefined || params['message'] === null) {
    throw invalid('message', 'is required')
  }
  const message = withTask(codec.readMessage(params['message']), params['id'])
  const settings = optionalObject(params, 'configuration')
  const configuration = settings === undefined ? plain : codec.readConfiguration(settings)
  const metadata = optionalJsonObject(params, 'metadata')
  checkMediaTypes(agent.inputModes, message)
  if (configuration.push !== undefined) pushesOf(a2a).check(configuration.push)
  const harn = a2a.harnTunnel ? harnIn(metadata, message) : undefined
  if (harn === undefined || !isBlank(message)) return { message, metadata, configuration, harn }
  // An operation without a message starts no turn, so there is nothing to wait for.
  return { message, metadata, configuration: { ...configuration, immediate: true }, harn }
}

export function send(a2a: A2AContext, call: Call, sending: Sending): Promise<SendResult> {
  const { taskId } = sending.message
  // The endpoint of an agent continues only tasks of that agent. The engine finds every task of the caller.
  return call.agent.scope === undefined || taskId === undefined
    ? sendOrTunnel(a2a, call, sending)
    : ownTask(a2a, call, taskId).then(() => sendOrTunnel(a2a, call, sending))
}

function sendOrTunnel(a2a: A2AContext, call: Call, sending: Sending): Promise<SendResult> {
  const { harn } = sending
  return harn === undefined ? deliver(a2a, call, sending) : runTunnelled(a2a, call, sending, harn)
}

/**
 * Executes the operation, and sends the message unless it is blank. A reminder is sent with the message, so one turn
 * gets both.
 */
async function runTunnelled(
  a2a: A2AContext,
  call: Call,
  sending: Sending,
  { pause, resume, reminder }: HarnOperations,
): Promise<SendResult> {
  const { engine } = a2a
  const { caller } = call
  const { message, configuration } = sending
  // These operations require the same scope as the control methods.
  if (!call.may('tasks:control')) {
    throw new A2AError('FORBIDDEN', 'This needs the scope tasks:control', {
      scope: 'tasks:control',
    })
  }
  const blank = isBlank(message)
  if (blank && message.taskId === undefined) throw invalid('message.taskId', 'is required')
  const reminders = reminder === undefined ? undefined : [reminder]
  const sent = blank ? undefined : await deliver(a2a, call, sending, reminders)
  if (sent?.kind === 'message') return sent
  const taskId = sent?.task.id ?? message.taskId ?? ''
  if (blank && reminder !== undefined) await engine.remind(caller, { taskId, reminder })
  if (pause !== undefined)
    await engine.pause(caller, check(verbs.pause.input, { ...pause, taskId }))
  if (resume !== undefined)
    await engine.resume(caller, check(verbs.resume.input, { ...resume, taskId }))
  const task = await engine.get(caller, taskId)
  if (blank) await ensurePush(a2a, call, task, configuration)
  return { kind: 'task', task, laterRecords: [], latest: task, repeated: sent?.repeated ?? false }
}

function deliver(
  a2a: A2AContext,
  call: Call,
  { message, metadata, configuration }: Sending,
  reminders?: readonly ReminderRequest[],
): Promise<SendResult> {
  const { caller, agent } = call
  const key = call.request.header('idempotency-key')
  const request = {
    agent: agent.name,
    message,
    idempotencyKey: key ?? keyIn(metadata) ?? keyIn(message.metadata),
    metadata,
    origin: 'a2a',
    // A caller that may only answer starts no task.
    onlyAnswer: !call.may(verbs.send.scope),
    reminders,
  }
  return configuration.push === undefined
    ? a2a.engine.send(caller, request)
    : deliverWithPush(a2a, call, request, configuration, configuration.push)
}

async function deliverWithPush(
  a2a: A2AContext,
  call: Call,
  request: SendRequest,
  configuration: SendConfiguration,
  target: PushTarget,
): Promise<SendResult> {
  const pushes = pushesOf(a2a)
  const { taskId } = request.message
  // A task of another caller is not found. This is checked before its webhooks are counted.
  const owner = taskId === undefined ? call.caller : await taskToWrite(a2a, call, taskId)
  const webhook = { owner, taskId, shape: call.codec.webhook, target: setBy(call, target) }
  const sent = await pushes.withMessage(webhook, (push) =>
    a2a.engine.send(call.caller, request, { push }),
  )
  if (sent.kind === 'task' && sent.repeated) await ensurePush(a2a, call, sent.task, configuration)
  return sent
}

/** Writes the webhook when the send wrote no record that could contain it. */
async function ensurePush(
  a2a: A2AContext,
  call: Call,
  task: Task,
  { push }: SendConfiguration,
): Promise<void> {
  if (push === undefined) return
  checkStarter(call, task)
  await pushesOf(a2a).ensure(task, call.codec.webhook, setBy(call, push))
}

/** The webhook ends with the credential of the caller. */
export function setBy({ caller: { credential } }: Call, target: PushTarget): PushTarget {
  return credential === undefined ? target : { ...target, setWith: credential }
}

/**
 * In 0.1 the id of the task is next to the message, and the client may choose it. An existing id continues that task.
 * An id that the client chose is not found.
 */
function withTask(message: Message, id: unknown): Message {
  if (typeof id !== 'string' || id === '' || message.taskId !== undefined) return message
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

/** Refuses a part whose media type the agent does not accept (§3.3.2, ContentTypeNotSupported). */
function checkMediaTypes(accepted: readonly string[], message: Message): void {
  for (const { mediaType: type } of message.parts) {
    if (type === undefined || type === '' || accepts(accepted, type)) continue
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

export const sendStreamingMessage: Method = {
  scope: verbs.send.scope,
  act: verbs.send.act,
  streams: true,
  async run(a2a, call) {
    const sending = readSending(a2a, call)
    const sent = await send(a2a, call, sending)
    if (sent.kind === 'message') return { frames: oneMessage(call, sent.message) }
    const { task, laterRecords, latest, repeated } = sent
    const cursor = repeated ? readCursor(call.request.header('last-event-id')) : undefined
    return taskStream(a2a, call, {
      task,
      view: { historyLength: sending.configuration.historyLength, withArtifacts: true },
      openedBy: 'send',
      laterRecords,
      latest,
      from: cursor !== undefined && cursor.seq <= task.version + 1 ? cursor : undefined,
    })
  },
}

/** A stream of exactly one Message. */
function oneMessage({ codec, envelope }: Call, message: Message): string {
  return frameText({ id: '1.1', data: envelope(JSON.stringify(codec.sentMessage(message))) })
}
