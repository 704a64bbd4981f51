import { LullError } from '../../../core/errors.ts'
import type { Task } from '../../../core/task.ts'
import { text } from '../addresses/params.ts'
import type { A2AContext, Call } from '../call.ts'

export function taskIdIn({ params }: Call): string {
  return text(params, 'id')
}

/** Under `/agents/{name}` only tasks of that agent are found, at the root all tasks of the caller. */
export async function ownTask(a2a: A2AContext, call: Call, taskId: string): Promise<Task> {
  const task = await a2a.engine.get(call.caller, taskId)
  if (!isOwn(call.agent, task)) throw new LullError('TASK_NOT_FOUND', { taskId })
  return task
}

export function isOwn({ scope }: Call['agent'], task: Task): boolean {
  return scope === undefined || task.agent === scope
}
