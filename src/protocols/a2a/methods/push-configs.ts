/** Push notification configs: A2A 1.0 §3.1.7 to §3.1.10. */
import { LullError } from '../../../core/errors.ts'
import type { Call, Method } from '../call.ts'
import { optionalText, text } from '../params.ts'
import { ownTask } from './own-task.ts'
import { pushesOf } from './send.ts'

/** 1.0 has `taskId` and `id`; 0.3 `id` (the task) and `pushNotificationConfigId`. */
function idsIn({ params, codec }: Call): {
  readonly taskId: string
  readonly id: string | undefined
} {
  if (codec.version === '1.0')
    return { taskId: text(params, 'taskId'), id: optionalText(params, 'id') }
  const id = optionalText(params, 'pushNotificationConfigId')
  return { taskId: optionalText(params, 'taskId') ?? text(params, 'id'), id }
}

export const createPushConfig: Method = {
  scope: 'tasks:write',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const { taskId, target } = call.codec.readPush(call.params)
    pushes.check(target)
    const task = await ownTask(a2a, call, taskId)
    const kept = await pushes.set(task, call.codec.version, target)
    return { value: call.codec.push(taskId, kept) }
  },
}

export const getPushConfig: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const { taskId, id } = idsIn(call)
    await ownTask(a2a, call, taskId)
    const known = await pushes.list(taskId)
    // 0.3 may leave the id out: the task's first config is meant.
    const found = id === undefined ? known[0] : known.find((one) => one.id === id)
    if (found === undefined) throw new LullError('TASK_NOT_FOUND', { taskId: id ?? taskId })
    return { value: call.codec.push(taskId, found) }
  },
}

export const listPushConfigs: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const { taskId } = idsIn(call)
    await ownTask(a2a, call, taskId)
    return { value: call.codec.pushList(taskId, await pushes.list(taskId)) }
  },
}

/** Idempotent: deleting what is not there is done already. */
export const deletePushConfig: Method = {
  scope: 'tasks:write',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const { taskId, id } = idsIn(call)
    await ownTask(a2a, call, taskId)
    await pushes.remove(taskId, id ?? taskId)
    return { value: call.codec.version === '1.0' ? {} : null }
  },
}
