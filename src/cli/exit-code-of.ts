import type { TaskState } from '../client/task.ts'
import { type ExitCode, exitCodes } from './command.ts'

const failed: ReadonlySet<TaskState> = new Set(['failed', 'rejected', 'canceled'])

/** Of a command that waited for the task. */
export function exitCodeOf(state: TaskState): ExitCode {
  return failed.has(state) ? exitCodes.taskFailed : exitCodes.ok
}
