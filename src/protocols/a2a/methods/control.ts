/**
 * The methods of the task-control and reminder extensions, as in the PAUSED and reminder RFCs, and of the receipts
 * extension, in both versions. The schema that parses a method also generates its published JSON Schema.
 */

import { LullError } from '../../../core/errors.ts'
import { isPaused } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { toIso } from '../../../core/values/instant.ts'
import { listReceiptsInput, listRemindersInput } from '../../../engine/input/inputs.ts'
import { check } from '../../../engine/input/parse.ts'
import { type Offers, offersOf } from '../../../engine/requests/offers.ts'
import type { PauseAnswer } from '../../../engine/requests/pause-task.ts'
import type { VerbInput } from '../../../engine/requests/verb.ts'
import { verbs } from '../../../engine/requests/verbs.ts'
import { receiptReport } from '../../../engine/requests/verify-task.ts'
import type { ExtensionMethodName } from '../../../wire/a2a-extension-methods.ts'
import type { Params } from '../addresses/params.ts'
import type { A2AContext, Answer, Call, Method } from '../call.ts'
import { A2AError } from '../errors/faults.ts'
import { RECEIPTS, REMINDERS, TASK_CONTROL } from '../extensions.ts'
import { reminderFacts, resumeFacts } from '../metadata.ts'
import type { Cleared, Injected, ReminderList } from '../schemas/reminders.ts'
import type { Parked, Paused, Pausing, Resumed } from '../schemas/task-control.ts'
import { isOwn, ownTask } from './tasks.ts'

/** The extension of each capability of an agent. */
const extensions = { pause: TASK_CONTROL, reminders: REMINDERS } as const

interface ControlMethod<T extends { readonly taskId: string }> {
  readonly verb: VerbInput<T>
  /** `id` is accepted for `taskId`, as in the methods of A2A 0.3. Not for methods where `id` is a reminder. */
  readonly takesId?: boolean
  readonly run: (a2a: A2AContext, call: Call, request: T) => Promise<object>
}

/**
 * The order of refusals: a method that is hidden from the caller (-32601), a method that the agent does not offer
 * (-32601), invalid parameters (-32602), a task that this address does not have.
 */
function control<T extends { readonly taskId: string }>(method: ControlMethod<T>): Method {
  const { verb, takesId = true, run } = method
  const { input, scope, act, offer } = verb
  return {
    scope,
    act,
    // Every task has receipts.
    extension: offer === undefined ? RECEIPTS : extensions[offer],
    faults: { TASK_TERMINAL: 'TASK_TERMINAL' },
    async run(a2a, call): Promise<Answer> {
      if (scope === 'tasks:work' && !call.may(scope)) {
        throw new A2AError('METHOD_NOT_FOUND', 'This method is for workers')
      }
      const params = takesId ? withTaskId(call.params) : call.params
      if (offer !== undefined) await requireOffer(a2a, call, offer, params['taskId'])
      const request = check(input, params)
      // The endpoint of an agent controls only tasks of that agent.
      if (call.agent.scope !== undefined) await ownTask(a2a, call, request.taskId)
      return { value: await run(a2a, call, request) }
    },
  }
}

function withTaskId(params: Params): Params {
  if (params['taskId'] !== undefined || params['id'] === undefined) return params
  const { id, ...rest } = params
  return { ...rest, taskId: id }
}

const pauseTask: Method = control({
  verb: verbs.pause,
  run: async ({ engine }, { caller }, request) => pauseResult(await engine.pause(caller, request)),
})

const resumeTask: Method = control({
  verb: verbs.resume,
  async run({ engine }, { caller }, request) {
    const answer = await engine.resume(caller, request)
    const { taskId } = request
    const resumed: Resumed = { taskId, state: answer.state, ...resumeFacts(answer) }
    return resumed
  },
})

/** For agents that run outside the process. To a caller without the scope the method does not exist. */
const awaitResumption: Method = control({
  verb: verbs.park,
  async run({ engine }, { caller }, request) {
    const answer = await engine.park(caller, request)
    if (!isPaused(answer.state)) return pauseResult(answer)
    const { taskId, handle, pausedAt, requestedAt } = answer
    const parkedAt = toIso(pausedAt ?? requestedAt)
    const parked: Parked = { taskId, state: 'paused-by-agent', handle, pausedAt: parkedAt }
    return parked
  },
})

const injectReminder: Method = control({
  verb: verbs.remind,
  async run({ engine }, { caller }, request) {
    const answer = await engine.remind(caller, request)
    const injected: Injected = { ...answer, acceptedAt: toIso(answer.acceptedAt) }
    return injected
  },
})

const listReminders: Method = control({
  verb: { input: listRemindersInput, scope: 'tasks:control', act: 'control', offer: 'reminders' },
  async run({ engine }, { caller }, { taskId }) {
    const pending = await engine.reminders(caller, taskId)
    const list: ReminderList = { taskId, reminders: pending.map(reminderFacts) }
    return list
  },
})

const clearReminders: Method = control({
  verb: verbs.clearReminders,
  takesId: false,
  async run({ engine }, { caller }, request) {
    const cleared: Cleared = await engine.clearReminders(caller, request)
    return cleared
  },
})

const listReceipts: Method = control({
  verb: { input: listReceiptsInput, scope: 'tasks:read', act: 'read' },
  run: async ({ engine }, { caller }, { taskId }) =>
    receiptReport(await engine.verify(caller, taskId)),
})

/** One method per row of `extensionMethodList`. */
export const controlMethods: Readonly<Record<ExtensionMethodName, Method>> = {
  pause: pauseTask,
  resume: resumeTask,
  park: awaitResumption,
  remind: injectReminder,
  listReminders,
  clearReminders,
  listReceipts,
}

/** After the grace time the task may still be working: the handle is valid, and a status update reports the commit. */
function pauseResult(answer: PauseAnswer): Paused | Pausing {
  const { taskId, handle, requestedAt, pausedAt, reason, conditions, deadlineAt, mayStillAct } =
    answer
  const facts = {
    ...(reason === undefined ? {} : { reason }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(deadlineAt === undefined ? {} : { deadlineAt: toIso(deadlineAt) }),
    ...(mayStillAct === undefined ? {} : { mayStillAct }),
  }
  if (answer.pausing) {
    const requested = toIso(requestedAt)
    return { taskId, state: 'working', pausing: true, handle, requestedAt: requested, ...facts }
  }
  const paused = toIso(pausedAt ?? requestedAt)
  return { taskId, state: 'paused-by-client', handle, pausedAt: paused, ...facts }
}

/**
 * Refuses a method that the agent does not offer, before its parameters are read. An agent that offers the capability passes. Otherwise two tasks are excepted: one of another agent, at the address
 * that serves all agents; and one that is stopped (by policy, by a hold), because it must be possible to resume it.
 * @throws LullError `NOT_OFFERED`, whatever the parameters say
 */
export async function requireOffer(
  a2a: A2AContext,
  call: Call,
  capability: keyof Offers,
  taskId: unknown,
): Promise<void> {
  const { agent } = call
  if (agent.offers[capability]) return
  const task = typeof taskId === 'string' ? await found(a2a, call, taskId) : undefined
  if (task !== undefined && isExcepted(a2a, call, capability, task)) return
  throw new LullError('NOT_OFFERED', { agent: agent.name, capability })
}

function isExcepted(
  { engine }: A2AContext,
  { agent }: Call,
  capability: keyof Offers,
  task: Task,
): boolean {
  if (!isOwn(agent, task)) return false
  const own = engine.agents.get(task.agent)
  if (own !== undefined && offersOf(own)[capability]) return true
  return capability === 'pause' && isPaused(task.state)
}

async function found(
  { engine }: A2AContext,
  { caller }: Call,
  taskId: string,
): Promise<Task | undefined> {
  try {
    return await engine.get(caller, taskId)
  } catch {
    return undefined
  }
}
