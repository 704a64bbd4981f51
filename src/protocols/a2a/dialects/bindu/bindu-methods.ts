/**
 * The Bindu dialect: calls of `tasks/pause`, `tasks/resume`, `tasks/get`, `tasks/cancel` and of the
 * webhook methods with `task_id` in their params are answered in the shapes of the Bindu document,
 * in both versions. It also differs in behaviour from the RFC: a task that waits for input can be
 * paused, a second pause is an error, and a resume needs no handle.
 */
import { isLullError } from '../../../../core/errors.ts'
import type { PushTarget } from '../../../../core/push.ts'
import { isPaused, type State } from '../../../../core/states.ts'
import { text } from '../../addresses/params.ts'
import type { A2AContext, Call, Method } from '../../call.ts'
import { readTarget } from '../../codec/read-push.ts'
import { A2AError, type FaultName } from '../../errors/faults.ts'
import { requireOffer } from '../../methods/control.ts'
import { pushesOf } from '../../methods/send-message.ts'
import { ownTask } from '../../methods/tasks.ts'
import { binduState, binduTask, resumedTask } from './bindu-task.ts'

export const bindu: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['tasks/pause', { scope: 'tasks:control', run: ifOffered(withTaskId(pause)) }],
  ['tasks/resume', { scope: 'tasks:control', run: ifOffered(withTaskId(resume)) }],
  ['tasks/get', { scope: 'tasks:read', run: withTaskId(get) }],
  ['tasks/cancel', { scope: 'tasks:write', run: withTaskId(cancel) }],
  ['tasks/pushNotificationConfig/set', { scope: 'tasks:write', run: withTaskId(setWebhook) }],
  ['tasks/pushNotificationConfig/list', { scope: 'tasks:read', run: withTaskId(listWebhooks) }],
])

async function pause(a2a: A2AContext, call: Call, taskId: string): Promise<object> {
  const { state } = await ownTask(a2a, call, taskId)
  const pausable = a2a.binduPausable
  if (!pausable.includes(binduState(state)) || state === 'user-consent-required') {
    throw notPausable(state, pausable)
  }
  // The engine checks the state again, because the task may have asked a question meanwhile.
  const dialect = { evenInputRequired: pausable.includes('input-required'), refuseRepeat: true }
  await a2a.engine.pause(call.caller, { taskId }, dialect)
  return binduTask(await a2a.engine.get(call.caller, taskId))
}

async function resume(a2a: A2AContext, call: Call, taskId: string): Promise<object> {
  const task = await ownTask(a2a, call, taskId)
  if (!isPaused(task.state)) throw notResumable(task.state)
  const { resumedAt } = await a2a.engine.resume(call.caller, { taskId }, { anyHandle: true })
  return resumedTask(await a2a.engine.get(call.caller, taskId), resumedAt)
}

async function get(a2a: A2AContext, call: Call, taskId: string): Promise<object> {
  return binduTask(await ownTask(a2a, call, taskId))
}

async function cancel(a2a: A2AContext, call: Call, taskId: string): Promise<object> {
  await ownTask(a2a, call, taskId)
  return binduTask(await a2a.engine.cancel(call.caller, { taskId }))
}

/** Sets a webhook whose events have the shapes of the Bindu document. */
async function setWebhook(a2a: A2AContext, call: Call, taskId: string): Promise<object> {
  const pushes = pushesOf(a2a)
  const { params } = call
  const given = params['push_notification_config'] ?? params['pushNotificationConfig']
  const target = readTarget(given, 'push_notification_config')
  pushes.check(target)
  const task = await ownTask(a2a, call, taskId)
  return webhook(taskId, await pushes.set(task, '0.3-bindu', target))
}

async function listWebhooks(a2a: A2AContext, call: Call, taskId: string): Promise<object> {
  const task = await ownTask(a2a, call, taskId)
  const known = await pushesOf(a2a).list(task)
  return known.map((push) => webhook(taskId, push))
}

function webhook(taskId: string, { id, url, token }: PushTarget): object {
  const config = { id, url, ...(token === undefined ? {} : { token }) }
  return { task_id: taskId, push_notification_config: config }
}

function ifOffered(run: Method['run']): Method['run'] {
  return async (a2a, call) => {
    await requireOffer(a2a, call, 'pause', call.params['task_id'])
    return run(a2a, call)
  }
}

type Act = (a2a: A2AContext, call: Call, taskId: string) => Promise<object>

/** Reads the task id, and translates errors to the names of the Bindu document. */
function withTaskId(act: Act): Method['run'] {
  return async (a2a, call) => {
    const taskId = text(call.params, 'task_id')
    try {
      return { value: await act(a2a, call, taskId) }
    } catch (error) {
      throw renameError(error, a2a.binduPausable)
    }
  }
}

const names: Partial<Readonly<Record<string, readonly [FaultName, string]>>> = {
  TASK_NOT_FOUND: ['TASK_NOT_FOUND', 'TaskNotFoundError'],
  TASK_NOT_PAUSABLE: ['BINDU_NOT_PAUSABLE', 'TaskNotPausableError'],
  TASK_NOT_PAUSED: ['BINDU_NOT_RESUMABLE', 'TaskNotResumableError'],
  TASK_TERMINAL: ['TASK_NOT_CANCELABLE', 'TaskNotCancelableError'],
}

function renameError(error: unknown, pausable: readonly string[]): unknown {
  if (!isLullError(error)) return error
  const [fault, name] = names[error.code] ?? []
  if (fault === undefined) return error
  const { state } = error.details as { state?: State }
  if (fault === 'BINDU_NOT_PAUSABLE' && state !== undefined) {
    // The state alone may allow a pause: a working task also refuses one if a pause is already
    // pending.
    return pausable.includes(binduState(state))
      ? notPausable(state, pausable, error.message)
      : notPausable(state, pausable)
  }
  if (fault === 'BINDU_NOT_RESUMABLE' && state !== undefined) return notResumable(state)
  return new A2AError(fault, error.message, { ...error.details, error: name })
}

function notPausable(
  state: State,
  pausable: readonly string[],
  message = `Task cannot be paused in '${binduState(state)}' state. Tasks can only be paused while ${pausable.join(', ')}.`,
): A2AError {
  const word = binduState(state)
  return new A2AError('BINDU_NOT_PAUSABLE', message, { error: 'TaskNotPausableError', state: word })
}

function notResumable(state: State): A2AError {
  const word = binduState(state)
  const message = `Task cannot be resumed from '${word}' state. Only suspended tasks can be resumed.`
  return new A2AError('BINDU_NOT_RESUMABLE', message, {
    error: 'TaskNotResumableError',
    state: word,
  })
}
