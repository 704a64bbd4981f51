/** Brings a task of a random program to its end: wakes its parks, answers its questions. For tests only. */
import type { Json } from '../../core/json.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { alice, type World } from './world.ts'

const ROUNDS = 200

/**
 * A park or a question is given the place that asked for it, so that a mix-up is seen. A task that works and does not
 * move, whatever the clock says, is stuck: that is told.
 */
export async function drive(world: World, taskId: string): Promise<Task> {
  for (let round = 0; round < ROUNDS; round++) {
    await world.settled()
    const task = await world.get(taskId)
    if (isTerminal(task.state)) return task
    if (task.state === 'input-required') {
      await world.tell(taskId, `to ${JSON.stringify(task.question?.message.parts)}`)
    } else if (task.suspension !== undefined) {
      const { handle, reason, initiator } = task.suspension
      const input: Json = initiator === 'agent' ? { to: reason ?? '' } : null
      await world.engine.resume(alice, { taskId, handle, input })
    } else {
      world.clock.advance(1_000)
    }
  }
  const log = (await world.log(taskId)).map((record) =>
    'key' in record ? `${record.type} ${record.key}` : record.type,
  )
  throw new Error(`task ${taskId} is stuck:\n${log.join('\n')}`)
}
