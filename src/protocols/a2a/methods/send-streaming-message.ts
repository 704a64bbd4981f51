/** `SendStreamingMessage` / `message/stream`: A2A 1.0 §3.1.2. */
import type { Message } from '../../../core/message.ts'
import type { EventFrame } from '../../../wire/event-stream.ts'
import type { Call, Method } from '../call.ts'
import { readCursor } from '../cursor.ts'
import { taskStream } from '../stream.ts'
import { send } from './send.ts'

export const sendStreamingMessage: Method = {
  scope: 'tasks:write',
  streams: true,
  async run(a2a, call) {
    const { sent, configuration } = await send(a2a, call)
    if (sent.kind === 'message') {
      return { frames: oneMessage(call, sent.message), abort: () => undefined }
    }
    const { task, repeated } = sent
    const cursor = repeated ? readCursor(call.lastEventId) : undefined
    return taskStream(a2a, call, {
      task,
      view: { historyLength: configuration.historyLength, withArtifacts: true },
      openedBy: 'send',
      from: cursor !== undefined && cursor.seq <= task.version + 1 ? cursor : undefined,
    })
  },
}

/** Exactly one Message, then the end. */
async function* oneMessage(call: Call, message: Message): AsyncGenerator<EventFrame, void> {
  const text = JSON.stringify(call.codec.sentMessage(message))
  yield { id: '1.1', data: call.envelope(text) }
}
