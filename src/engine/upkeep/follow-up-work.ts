import type { EngineContext } from '../context.ts'
import { cancelChildren } from '../requests/cancel-task.ts'
import type { FollowUpWork } from './follow-ups.ts'

/** What has to follow the writes of this process, or of one that is gone. */
export function followUpWork(context: EngineContext): FollowUpWork {
  return {
    async stopped(task) {
      await context.events.lookBack(task)
      await context.childEnds.lookBack(task)
    },
    ended: (task) => context.childEnds.ended(task),
    canceled: (task) => cancelChildren(context, task),
  }
}
