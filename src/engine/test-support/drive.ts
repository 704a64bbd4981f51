/** Brings a task of a random agent to its end: wakes its parks, answers its questions. For tests only. */

import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Json } from '../../core/values/json.ts'
import { alice, type Harness } from './engine-harness.ts'

const ROUNDS = 200

/**
 * A park or a question is given the place that asked for it, so that a mix-up is seen. A task that works and does not
 * move, whatever the clock says, is stuck: that is told.
 */
export async function drive(harness: Harness, taskId: string): Promise<Task> {
  for (let round = 0; round < ROUNDS; round++) {
    await harness.settled()
    const task = await harness.get(taskId)
    if (isTerminal(task.state)) return task
    if (task.state === 'input-required') {
      await harness.tell(taskId, `to ${JSON.stringify(task.question?.message.parts)}`)
    } else if (task.suspension !== undefined) {
      const { handle, reason, initiator } = task.suspension
      const input: Json = initiator === 'agent' ? { to: reason ?? '' } : null
      await harness.engine.resume(alice, { taskId, handle, input })
    } else {
      harness.clock.advance(1_000)
    }
  }
  const log = (await harness.log(taskId)).map((record) =>
    'key' in record ? `${record.type} ${record.key}` : record.type,
  )
  throw new Error(`task ${taskId} is stuck:\n${log.join('\n')}`)
}
