import type { Task } from '../../core/task.ts'
import type { SpanAttributes } from '../../ports/tracing.ts'

/** The ids by which spans and log lines of a task are found. */
export function taskAttributes({ id, contextId, tenant, agent }: TaskIds): SpanAttributes {
  return {
    'lull.task.id': id,
    'lull.context.id': contextId,
    'lull.tenant': tenant,
    'lull.agent': agent,
  }
}

type TaskIds = Pick<Task, 'id' | 'contextId' | 'tenant' | 'agent'>
