/** Push notification configs: A2A 1.0 §3.1.7 to §3.1.10. */
import type { Push } from '../../../core/push.ts'
import { optionalInteger, optionalText, text } from '../addresses/params.ts'
import type { A2AContext, Call, Method } from '../call.ts'
import { A2AError } from '../errors/faults.ts'
import { pushesOf, setBy } from './send-message.ts'
import { ownTask, taskToWrite } from './tasks.ts'

/** 1.0 has `taskId` and `id`. 0.3 has `id` for the task and `pushNotificationConfigId`. */
function taskIdIn({ params, codec }: Call): string {
  if (codec.version === '1.0') return text(params, 'taskId')
  return optionalText(params, 'taskId') ?? text(params, 'id')
}

/** Optional in 0.3, as in the call that creates the config. */
function configIdIn({ params, codec }: Call): string | undefined {
  if (codec.version === '1.0') return text(params, 'id')
  return optionalText(params, 'pushNotificationConfigId')
}

/**
 * A config that was created without an id in 0.3 has the id of the task. Some peers, such as the official kit, call it
 * `default`.
 */
function find(known: readonly Push[], { codec }: Call, id: string): Push | undefined {
  const named = known.find((one) => one.id === id)
  if (named !== undefined || codec.version === '1.0' || id !== 'default') return named
  return known.find((one) => one.id === one.taskId)
}

export const createPushConfig: Method = {
  scope: 'tasks:write',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const { taskId, target } = call.codec.readPush(call.params)
    pushes.check(target)
    const task = await taskToWrite(a2a, call, taskId)
    const kept = await pushes.set(task, call.codec.webhook, setBy(call, target))
    noteWebhook(a2a, call, 'webhook.set', taskId, kept.id)
    return { value: call.codec.push(taskId, kept) }
  },
}

export const getPushConfig: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const [taskId, id] = [taskIdIn(call), configIdIn(call)]
    const task = await ownTask(a2a, call, taskId)
    const known = await pushes.list(task)
    // Without an id the first config of the task is returned.
    const found = id === undefined ? known[0] : find(known, call, id)
    if (found === undefined) throw noConfig(taskId, id)
    return { value: call.codec.push(taskId, found) }
  },
}

export const listPushConfigs: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const taskId = taskIdIn(call)
    // A task has few configs, so there is one page.
    optionalInteger(call.params, 'pageSize', { min: 0 })
    optionalText(call.params, 'pageToken')
    const task = await ownTask(a2a, call, taskId)
    return { value: call.codec.pushList(taskId, await pushes.list(task)) }
  },
}

/** Idempotent: deleting an unknown config succeeds. */
export const deletePushConfig: Method = {
  scope: 'tasks:write',
  async run(a2a, call) {
    const pushes = pushesOf(a2a)
    const [taskId, id] = [taskIdIn(call), configIdIn(call)]
    const task = await taskToWrite(a2a, call, taskId)
    const wanted = id ?? taskId
    const found = find(await pushes.list(task), call, wanted)
    if (found !== undefined) await pushes.remove(task, found.id)
    // One that does not exist is noted as a refused attempt, because many of these are counted and not listed.
    const outcome = found === undefined ? 'TASK_NOT_FOUND' : 'done'
    noteWebhook(a2a, call, 'webhook.delete', taskId, found?.id ?? wanted, outcome)
    return { value: call.codec.version === '1.0' ? {} : null }
  },
}

function noteWebhook(
  { engine }: A2AContext,
  { caller }: Call,
  action: 'webhook.set' | 'webhook.delete',
  taskId: string,
  target: string,
  outcome: 'done' | 'TASK_NOT_FOUND' = 'done',
): void {
  const { tenant, principal, credential } = caller
  engine.audit.note({ tenant, principal, credential, action, taskId, target, outcome })
}

/**
 * A2A uses the error of an unknown task: "TaskNotFoundError: the push notification configuration does not exist"
 * (§3.1.8).
 */
function noConfig(taskId: string, id: string | undefined): A2AError {
  const which =
    id === undefined ? 'no push notification config' : `no push notification config ${id}`
  const details = id === undefined ? { taskId } : { taskId, pushNotificationConfigId: id }
  return new A2AError('TASK_NOT_FOUND', `Task ${taskId} has ${which}`, details)
}
