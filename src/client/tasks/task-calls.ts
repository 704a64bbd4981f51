/**
 * Calls that read or end a task (get, list, cancel, receipts) and calls that send messages (send, stream, answer). A
 * message carries the next reminder that waits for it.
 */

import type { Message } from '../../core/messages/message.ts'
import { isInterrupted } from '../../core/states.ts'
import type { ReceiptReport } from '../../wire/ops/logs.ts'
import type { Client, ClientParts, SendOptions } from '../client.ts'
import { isClientError, notA2A } from '../client-error.ts'
import { operations } from '../wire/a2a-names.ts'
import { toWireState } from '../wire/extension-metadata.ts'
import { isObject, readList, readString } from '../wire/json-members.ts'
import { writeMessage } from '../wire/message-format.ts'
import type { Params } from '../wire/transport.ts'
import { buildAnswer, buildMessage, type Content } from './message-content.ts'
import { attachReminder, type IdentifiedReminder } from './remind.ts'
import type { SendResult, TaskFrame, TaskState } from './task-types.ts'
import { type Follow, isOver, stateOf, taskIdOf } from './watch.ts'

export type TaskCalls = Pick<Client, 'get' | 'list' | 'cancel' | 'receipts'>

export function createTaskCalls({ transport, read, version }: ClientParts): TaskCalls {
  return {
    async get(id, { signal, historyLength } = {}) {
      const params = { id, historyLength }
      return read.task(await transport.call(operations.get, params, { signal }))
    },
    async list({ state, ...filter } = {}, { signal } = {}) {
      const status = state === undefined || version === '0.3' ? state : toWireState(state)
      const params = { ...filter, status }
      const page = read.page(await transport.call(operations.list, params, { signal }))
      if (state === undefined) return page
      return { ...page, tasks: page.tasks.filter((task) => task.state === state) }
    },
    async cancel(id, { signal, metadata } = {}) {
      const params = { id, metadata }
      return read.task(await transport.call(operations.cancel, params, { signal }))
    },
    async receipts(taskId, { signal } = {}) {
      const answer = await transport.call(operations.listReceipts, { taskId }, { signal })
      if (!isReport(answer)) throw notA2A('a list of receipts')
      return answer
    },
  }
}

function isReport(answer: unknown): answer is ReceiptReport {
  if (readString(answer, 'taskId') === undefined) return false
  return readList(answer, 'receipts').every(isObject) && readList(answer, 'faults').every(isObject)
}

type Sending = Pick<Client, 'send' | 'stream' | 'answer'>

export function createSending(parts: ClientParts, { get }: TaskCalls, follow: Follow): Sending {
  const { transport, read, attached, streams } = parts

  async function send(content: Content, options: SendOptions = {}): Promise<SendResult> {
    const message = buildMessage(content, options)
    const { taskId = '' } = message
    const reminder = attached.take(message.taskId)
    try {
      const params = paramsOf(parts, message, options, reminder)
      const answer = await transport.call(operations.send, params, callOptions(options))
      const reminderIds = reminder === undefined ? [] : [reminder.id]
      const { cursor: _, ...sent } = read.sent(answer)
      return { ...sent, reminderIds }
    } catch (error) {
      if (reminder !== undefined) attached.putBack(taskId, reminder)
      throw error
    }
  }

  async function* sendStream(
    message: Message,
    options: SendOptions,
    signal: AbortSignal,
  ): AsyncGenerator<TaskFrame, void> {
    const reminder = attached.take(message.taskId)
    let arrived = false
    try {
      const params = paramsOf(parts, message, options, reminder)
      const call = { ...callOptions(options), signal }
      for await (const { cursor, value } of transport.stream(operations.stream, params, call)) {
        const frame = read.frame(value, cursor)
        arrived = true
        if (frame !== undefined) yield frame
      }
    } finally {
      if (!arrived && reminder !== undefined) attached.putBack(message.taskId ?? '', reminder)
    }
  }

  /** The stream of the send. When it breaks after its first frame, the client watches the task from there. */
  async function* continuedStream(
    message: Message,
    options: SendOptions,
    signal: AbortSignal,
  ): AsyncGenerator<TaskFrame, void> {
    let taskId: string | undefined
    let after: string | undefined
    try {
      for await (const frame of sendStream(message, options, signal)) {
        taskId ??= taskIdOf(frame)
        if (frame.cursor !== '') after = frame.cursor
        yield frame
        if (frame.kind === 'message' || endsStream(stateOf(frame) ?? 'unknown')) return
      }
    } catch (error) {
      signal.throwIfAborted()
      // Before the first frame it is unknown whether the message arrived. The caller decides whether to send it again.
      if (taskId === undefined || !isClientError(error) || !error.isTransient) throw error
    }
    if (taskId !== undefined) yield* follow(taskId, signal, { after }, endsStream)
  }

  return {
    send,
    stream: (content, options = {}) => {
      const message = buildMessage(content, options)
      return streams.run((signal) => continuedStream(message, options, signal), options.signal)
    },
    async answer(taskId, answer, options = {}) {
      const task = await get(taskId, { signal: options.signal, historyLength: 0 })
      return send(buildAnswer(task, answer), options)
    },
  }
}

/** The stream of a send ends when the task has ended or waits for input. */
function endsStream(state: TaskState): boolean {
  return isOver(state) || (state !== 'unknown' && isInterrupted(state))
}

function paramsOf(
  { version, binding }: ClientParts,
  message: Message,
  options: SendOptions,
  reminder: IdentifiedReminder | undefined,
): Params {
  const { returnImmediately = false, historyLength, acceptedOutputModes } = options
  const blocking = version === '1.0' ? { returnImmediately } : { blocking: !returnImmediately }
  // The reminder is also on the message, because agents made with the official SDK see only the message.
  const sent =
    reminder === undefined
      ? message
      : { ...message, metadata: attachReminder(message.metadata, reminder) }
  return {
    message: writeMessage(sent, version, binding),
    configuration: { ...blocking, historyLength, acceptedOutputModes },
    metadata:
      reminder === undefined ? options.metadata : attachReminder(options.metadata, reminder),
  }
}

function callOptions({ signal, idempotencyKey }: SendOptions) {
  return {
    signal,
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  }
}
