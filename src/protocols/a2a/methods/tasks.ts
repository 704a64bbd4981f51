/** Getting, listing, canceling and watching tasks that exist. */
import { isLullError, LullError } from '../../../core/errors.ts'
import { isTerminal, type State } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { isStarter } from '../../../engine/caller.ts'
import { renderOne } from '../../../engine/ledger/unreadable-task.ts'
import type { CancelRequest } from '../../../engine/requests/cancel-task.ts'
import { verbs } from '../../../engine/requests/verbs.ts'
import {
  invalid,
  optionalBoolean,
  optionalInteger,
  optionalJsonObject,
  optionalText,
  text,
} from '../addresses/params.ts'
import type { A2AContext, Call, Method } from '../call.ts'
import { wholeTask } from '../codec/codec.ts'
import { A2AError } from '../errors/faults.ts'
import { readCursor } from '../streams/frames.ts'
import { taskStream } from '../streams/stream.ts'

/** Clients of the PAUSED RFC name the task `taskId` in every method, also in the standard ones of 0.3. */
export function taskIdIn({ params, codec }: Call): string {
  const hasOther = optionalText(params, 'id') === undefined && params['taskId'] !== undefined
  return text(params, codec.version === '0.3' && hasOther ? 'taskId' : 'id')
}

/** Under `/agents/{name}` only tasks of that agent are found, at the root all tasks of the caller. */
export async function ownTask(a2a: A2AContext, call: Call, taskId: string): Promise<Task> {
  const task = await a2a.engine.get(call.caller, taskId)
  if (!isOwn(call.agent, task)) throw new LullError('TASK_NOT_FOUND', { taskId })
  return task
}

const ownWriting = 'tasks:write of the principal that started the task'

/** A task whose webhooks the caller sets: one that it started. */
export async function taskToWrite(a2a: A2AContext, call: Call, taskId: string): Promise<Task> {
  const task = await ownTask(a2a, call, taskId)
  checkStarter(call, task)
  return task
}

/** @throws LullError `FORBIDDEN` */
export function checkStarter({ caller }: Call, task: Task): void {
  if (!isStarter(caller, task)) throw new LullError('FORBIDDEN', { scope: ownWriting })
}

export function isOwn({ scope }: Call['agent'], task: Task): boolean {
  return scope === undefined || task.agent === scope
}

/** `GetTask` / `tasks/get`: A2A 1.0 §3.1.3. */
export const getTask: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const historyLength = optionalInteger(call.params, 'historyLength', { min: 0 })
    const task = await ownTask(a2a, call, taskIdIn(call))
    if (historyLength === undefined) return { text: a2a.texts(call.codec, task) }
    return { value: call.codec.task(task, { historyLength, withArtifacts: true }) }
  },
}

/** `ListTasks`: A2A 1.0 §3.1.4. Newest status first. The cursor is a position in this order, not a row number. */
const PAGE = 50
const MOST = 100

export const listTasks: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const { params, codec, caller, agent } = call
    const limit = optionalInteger(params, 'pageSize', { min: 1, max: MOST }) ?? PAGE
    const historyLength = optionalInteger(params, 'historyLength', { min: 0 })
    const withArtifacts = optionalBoolean(params, 'includeArtifacts') ?? false
    const page = await a2a.engine
      .list(caller, {
        agent: agent.scope,
        contextId: given(optionalText(params, 'contextId')),
        states: statesIn(call),
        statusAtFrom: instantIn(call),
        cursor: given(optionalText(params, 'pageToken')),
        limit,
      })
      .catch((error: unknown) => {
        if (isLullError(error, 'INVALID_INPUT') && error.details.path === 'cursor') {
          throw invalid('pageToken', error.details.problem)
        }
        throw error
      })
    return {
      value: {
        tasks: page.tasks.map((task) =>
          renderOne(task, (one) => codec.task(one, { historyLength, withArtifacts })),
        ),
        nextPageToken: page.cursor ?? '',
        pageSize: limit,
        totalSize: page.total,
      },
    }
  },
}

/** The empty string means absent, as in ProtoJSON. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

function statesIn({ params, codec }: Call): readonly State[] | undefined {
  const wanted = optionalText(params, 'status')
  if (wanted === undefined || wanted === '' || wanted === 'TASK_STATE_UNSPECIFIED') return undefined
  const found = codec.statesOf(wanted)
  if (found === undefined) throw invalid('status', 'is not a task state')
  return found
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/** `statusTimestampAfter`, inclusive. */
function instantIn({ params }: Call): number | undefined {
  const wanted = optionalText(params, 'statusTimestampAfter')
  if (wanted === undefined || wanted === '') return undefined
  const instant = INSTANT.test(wanted) ? Date.parse(wanted) : Number.NaN
  if (Number.isNaN(instant)) {
    throw invalid(
      'statusTimestampAfter',
      'must be an ISO 8601 instant, such as 2026-01-01T00:00:00Z',
    )
  }
  return instant
}

/** `CancelTask` / `tasks/cancel`: A2A 1.0 §3.1.5. In 1.0 a second cancel is no error (§3.3.1); in 0.3 it is -32002. */
export const cancelTask: Method = {
  scope: verbs.cancel.scope,
  act: verbs.cancel.act,
  faults: { TASK_TERMINAL: 'TASK_NOT_CANCELABLE' },
  async run(a2a, call) {
    const taskId = taskIdIn(call)
    const metadata = optionalJsonObject(call.params, 'metadata')
    await ownTask(a2a, call, taskId)
    const canceled = await cancel(a2a, call, { taskId, metadata })
    return { value: call.codec.task(canceled, wholeTask) }
  },
}

async function cancel(
  { engine }: A2AContext,
  { caller, codec }: Call,
  request: CancelRequest,
): Promise<Task> {
  try {
    return await engine.cancel(caller, request)
  } catch (error) {
    const isCanceled = isLullError(error, 'TASK_TERMINAL') && error.details.state === 'canceled'
    if (isCanceled && codec.version === '1.0') return engine.get(caller, request.taskId)
    throw error
  }
}

/** `SubscribeToTask` / `tasks/resubscribe`: A2A 1.0 §3.1.6. */
export const subscribeToTask: Method = {
  scope: 'tasks:read',
  streams: true,
  async run(a2a, call) {
    const task = await ownTask(a2a, call, taskIdIn(call))
    const cursor = readCursor(call.request.header('last-event-id'))
    const from = cursor !== undefined && cursor.seq <= task.version + 1 ? cursor : undefined
    // A reader with a cursor gets the rest of the stream. Without one, a subscription to an ended task is refused.
    if (from === undefined && isTerminal(task.state)) {
      const { id: taskId, state } = task
      throw new A2AError('UNSUPPORTED_OPERATION', `Task ${taskId} is ${state}: nothing follows`, {
        taskId,
        state,
      })
    }
    return taskStream(a2a, call, { task, view: wholeTask, openedBy: 'subscription', from })
  },
}
