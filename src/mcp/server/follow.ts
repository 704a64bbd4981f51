/**
 * Follows a task until it ends, waits for an answer or a resume, or the time is up. Keeps the MCP
 * client informed meanwhile.
 */
import type { Client } from '../../client/client.ts'
import type { Task, TaskFrame } from '../../client/tasks/task-types.ts'
import { textOf } from '../../core/messages/message.ts'
import type { Json } from '../../core/values/json.ts'

/** Notifications to the MCP client while a tool waits. */
export interface Told {
  progress(text: string): void
  /** Reports a change of a reminder, in the shape that A2A and ACP use too. */
  reminder(params: Readonly<Record<string, Json>>): void
}

const MOVING: ReadonlySet<string> = new Set(['submitted', 'working'])

export async function follow(
  client: Client,
  taskId: string,
  waitSeconds: number,
  told: Told,
  signal: AbortSignal,
): Promise<Task> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1_000)])
  try {
    for await (const frame of client.watch(taskId, { signal: until })) {
      tell(frame, told)
      const state = stateIn(frame)
      if (state !== undefined && !MOVING.has(state)) break
    }
  } catch (error) {
    if (!until.aborted) throw error
  }
  signal.throwIfAborted()
  return client.get(taskId)
}

function stateIn(frame: TaskFrame): string | undefined {
  if (frame.kind === 'task') return frame.task.state
  return frame.kind === 'status' ? frame.state : undefined
}

function tell(frame: TaskFrame, told: Told): void {
  if (frame.kind === 'status') {
    const { message } = frame.status
    told.progress(message === undefined ? frame.state : textOf(message))
  }
  if (frame.kind === 'reminder') {
    const { taskId, change } = frame
    told.reminder({ taskId, ...(JSON.parse(JSON.stringify(change)) as Record<string, Json>) })
  }
}
