/** `GetTask` / `tasks/get`: A2A 1.0 §3.1.3. */

import { optionalInteger } from '../addresses/params.ts'
import type { Method } from '../call.ts'
import { ownTask, taskIdIn } from './own-task.ts'

export const getTask: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const historyLength = optionalInteger(call.params, 'historyLength', { min: 0 })
    const task = await ownTask(a2a, call, taskIdIn(call))
    if (historyLength === undefined) return { text: a2a.texts(call.codec, task) }
    return { value: call.codec.task(task, { historyLength, withArtifacts: true }) }
  },
}
