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
  const { taskId } = call.params
  return { value: { taskId, state: answer.state, ...resumeFacts(answer) } }
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
    const { taskId, state, handle, pausedAt, requestedAt } = answer
    return { value: { taskId, state, handle, pausedAt: toIso(pausedAt ?? requestedAt) } }
  },
}

export const injectReminder: Method = reminding(async (a2a, call) => {
  await own(a2a, call)
  const answer = await a2a.engine.remind(call.caller, call.params as never)
  return { value: { ...answer, acceptedAt: toIso(answer.acceptedAt) } }
})

export const listReminders: Method = reminding(async (a2a, call) => {
  const { taskId } = parse(listRemindersInput, call.params)
  await own(a2a, call)
  const pending = await a2a.engine.reminders(call.caller, taskId)
  return { value: { taskId, reminders: pending.map(reminderFacts) } }
})

export const clearReminders: Method = reminding(async (a2a, call) => {
  await own(a2a, call)
  return { value: await a2a.engine.clearReminders(call.caller, call.params as never) }
})

/** Past the grace time the truth is that it still works: the handle is valid, the commit comes as a status update. */
function pauseResult(answer: PauseAnswer): object {
  const { taskId, state, handle, requestedAt, pausedAt, reason, conditions, deadlineAt } = answer
  const facts = {
    ...(reason === undefined ? {} : { reason }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(deadlineAt === undefined ? {} : { deadlineAt: toIso(deadlineAt) }),
  }
  if (answer.pausing) {
    return { taskId, state, pausing: true, handle, requestedAt: toIso(requestedAt), ...facts }
  }
  return { taskId, state, handle, pausedAt: toIso(pausedAt ?? requestedAt), ...facts }
}
