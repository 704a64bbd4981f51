/**
 * The methods of the task-control and reminder extensions: the PAUSED and reminder RFCs, in both versions. The engine
 * checks the parameters with the schemas the published JSON Schemas are made from; here they only change their clothes.
 */
import { toIso } from '../../../core/instant.ts'
import { isPaused } from '../../../core/states.ts'
import { listRemindersInput } from '../../../engine/inputs.ts'
import { parse } from '../../../engine/parse.ts'
import type { PauseAnswer } from '../../../engine/pausing.ts'
import type { Call, Method } from '../call.ts'
import { REMINDERS, TASK_CONTROL } from '../extensions.ts'
import type { FaultOverrides } from '../failure.ts'
import { A2AError } from '../faults.ts'
import { reminderFacts, resumeFacts } from '../metadata.ts'
import { text } from '../params.ts'
import type { Cleared, Injected, ReminderList } from '../schemas/reminders.ts'
import type { Parked, Paused, Pausing, Resumed } from '../schemas/task-control.ts'
import { ownTask } from './own-task.ts'

const faults: FaultOverrides = { TASK_TERMINAL: 'TASK_TERMINAL' }

const control = (run: Method['run']): Method => ({
  scope: 'tasks:control',
  extension: TASK_CONTROL,
  faults,
  run,
})

const reminding = (run: Method['run']): Method => ({
  scope: 'tasks:control',
  extension: REMINDERS,
  faults,
  run,
})

/** The agent's own endpoint controls its own tasks only. The id itself is the engine's to refuse. */
async function own(a2a: Parameters<Method['run']>[0], call: Call): Promise<void> {
  const { taskId } = call.params
  if (call.agent.scope !== undefined && typeof taskId === 'string') {
    await ownTask(a2a, call, taskId)
  }
}

export const pauseTask: Method = control(async (a2a, call) => {
  await own(a2a, call)
  return { value: pauseResult(await a2a.engine.pause(call.caller, call.params as never)) }
})

export const resumeTask: Method = control(async (a2a, call) => {
  await own(a2a, call)
  const answer = await a2a.engine.resume(call.caller, call.params as never)
  const taskId = text(call.params, 'taskId')
  const resumed: Resumed = { taskId, state: answer.state, ...resumeFacts(answer) }
  return { value: resumed }
})

/** For agents that run outside the process; without the scope the method is not there at all. */
export const awaitResumption: Method = {
  scope: 'tasks:work',
  extension: TASK_CONTROL,
  faults,
  async run(a2a, call) {
    if (!call.may('tasks:work')) {
      throw new A2AError('METHOD_NOT_FOUND', 'tasks/await_resumption is for workers')
    }
    await own(a2a, call)
    const answer = await a2a.engine.park(call.caller, call.params as never)
    if (!isPaused(answer.state)) return { value: pauseResult(answer) }
    const { taskId, handle, pausedAt, requestedAt } = answer
    const parkedAt = toIso(pausedAt ?? requestedAt)
    const parked: Parked = { taskId, state: 'paused-by-agent', handle, pausedAt: parkedAt }
    return { value: parked }
  },
}

export const injectReminder: Method = reminding(async (a2a, call) => {
  await own(a2a, call)
  const answer = await a2a.engine.remind(call.caller, call.params as never)
  const injected: Injected = { ...answer, acceptedAt: toIso(answer.acceptedAt) }
  return { value: injected }
})

export const listReminders: Method = reminding(async (a2a, call) => {
  const { taskId } = parse(listRemindersInput, call.params)
  await own(a2a, call)
  const pending = await a2a.engine.reminders(call.caller, taskId)
  const list: ReminderList = { taskId, reminders: pending.map(reminderFacts) }
  return { value: list }
})

export const clearReminders: Method = reminding(async (a2a, call) => {
  await own(a2a, call)
  const cleared: Cleared = await a2a.engine.clearReminders(call.caller, call.params as never)
  return { value: cleared }
})

/** Past the grace time the truth is that it still works: the handle is valid, the commit comes as a status update. */
function pauseResult(answer: PauseAnswer): Paused | Pausing {
  const { taskId, handle, requestedAt, pausedAt, reason, conditions, deadlineAt } = answer
  const facts = {
    ...(reason === undefined ? {} : { reason }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(deadlineAt === undefined ? {} : { deadlineAt: toIso(deadlineAt) }),
  }
  if (answer.pausing) {
    const requested = toIso(requestedAt)
    return { taskId, state: 'working', pausing: true, handle, requestedAt: requested, ...facts }
  }
  const paused = toIso(pausedAt ?? requestedAt)
  return { taskId, state: 'paused-by-client', handle, pausedAt: paused, ...facts }
}
