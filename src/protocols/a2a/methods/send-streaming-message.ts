/** `SendStreamingMessage` / `message/stream`: A2A 1.0 §3.1.2. */
import type { Message } from '../../../core/messages/message.ts'
import { frameText } from '../../../http/event-stream.ts'
import type { Call, Method } from '../call.ts'
import { readCursor } from '../streams/cursor.ts'
import { taskStream } from '../streams/stream.ts'
import { readSending, send } from './send.ts'

export const sendStreamingMessage: Method = {
  scope: 'tasks:write',
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
