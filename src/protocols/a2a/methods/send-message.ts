/** `SendMessage` / `message/send`: A2A 1.0 §3.1.1. Blocking unless the request says otherwise (§3.2.2). */
import { isInterrupted, isPaused, isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { A2AContext, Call, Method } from '../call.ts'
import { TASK_CONTROL } from '../extensions.ts'
import { createEnding } from '../streams/closing.ts'
import { readSending, send } from './send.ts'

export const sendMessage: Method = {
  scope: 'tasks:write',
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

/** In 1.0 a blocking call waits while the task is stopped, unless the caller activated the extension. */
function isSettled({ codec, active }: Call, { state }: Task): boolean {
  if (isTerminal(state) || isInterrupted(state)) return true
  return isPaused(state) && (codec.version === '0.3' || active.has(TASK_CONTROL))
}
