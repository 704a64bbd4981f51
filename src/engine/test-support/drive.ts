/** Brings a task of a random program to its end: wakes its parks, answers its questions. For tests only. */
import type { Json } from '../../core/json.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { alice, type World } from './world.ts'

/** What a park or a question is given: the place that asked for it, so that a mix-up is seen. */
export async function drive(world: World, taskId: string): Promise<Task> {
  for (;;) {
    const task = await world.until(taskId, (now) => now.state !== 'working' && !waits(now))
    if (isTerminal(task.state)) return task
    if (task.state === 'input-required') {
      await world.tell(taskId, `to ${JSON.stringify(task.question?.message.parts)}`)
    } else if (task.suspension !== undefined) {
      const { handle, reason, initiator } = task.suspension
      const input: Json = initiator === 'agent' ? { to: reason ?? '' } : null
      await world.engine.resume(alice, { taskId, handle, input })
    }
  }
}

const waits = (task: Task): boolean => task.state === 'submitted'
