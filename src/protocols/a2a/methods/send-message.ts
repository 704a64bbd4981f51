/** `SendMessage` / `message/send`: A2A 1.0 §3.1.1. Blocking unless the request says otherwise (§3.2.2). */
import { isInterrupted, isPaused, isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Call, Method } from '../call.ts'
import { TASK_CONTROL } from '../extensions.ts'
import { send } from './send.ts'

export const sendMessage: Method = {
  scope: 'tasks:write',
  async run(a2a, call) {
    const { sent, configuration } = await send(a2a, call)
    if (sent.kind === 'message') return { value: call.codec.sentMessage(sent.message) }
    const view = { historyLength: configuration.historyLength, withArtifacts: true }
    const { task } = sent
    if (configuration.immediate || isPaused(task.state) || isSettled(call, task)) {
      return { value: call.codec.sentTask(task, view) }
    }
    const { signal, release } = a2a.closing.watch(call.signal)
    try {
      const settled = (now: Task): boolean => isSettled(call, now)
      const found = await a2a.engine.waitFor(call.caller, task.id, settled, { signal })
      return { value: call.codec.sentTask(found, view) }
    } finally {
      release()
    }
  },
}

/** 1.0 makes a blocking call wait while the task is stopped, unless the caller knows what stopped means. */
function isSettled({ codec, active }: Call, { state }: Task): boolean {
  if (isTerminal(state) || isInterrupted(state)) return true
  return isPaused(state) && (codec.version === '0.3' || active.has(TASK_CONTROL))
}
