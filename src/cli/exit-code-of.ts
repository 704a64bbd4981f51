import type { TaskState } from '../client/tasks/task-types.ts'
import { type ExitCode, exitCodes } from './command.ts'

const failed: ReadonlySet<TaskState> = new Set(['failed', 'rejected', 'canceled'])

/** The exit code of a command that waited for a task, by the state of the task. */
export function exitCodeOf(state: TaskState): ExitCode {
  return failed.has(state) ? exitCodes.taskFailed : exitCodes.ok
}
