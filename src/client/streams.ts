/** The streams this client has open, by task, so that it can let go of a task without stopping it. */
import type { TaskFrame } from './task.ts'

export interface Streams {
  /** Runs a stream that can be let go of; it then ends as if there were nothing more to read. */
  run(
    open: (signal: AbortSignal) => AsyncGenerator<TaskFrame, void>,
    outer: AbortSignal | undefined,
    taskId?: string,
  ): AsyncGenerator<TaskFrame, void>
  /** Ends every stream of the task; the cursor of the last frame that any of them delivered. */
  letGo(taskId: string): string | undefined
}

interface Open {
  taskId: string | undefined
  readonly abort: AbortController
}

export function createStreams(): Streams {
  const open = new Set<Open>()
  const cursors = new Map<string, string>()
  const released = new Error('let go')

  function note(one: Open, frame: TaskFrame): void {
    one.taskId ??= taskIdIn(frame)
    if (one.taskId === undefined || frame.cursor === '') return
    cursors.set(one.taskId, frame.cursor)
  }

  /** Cursors are kept only while somebody reads. */
  function forget(one: Open): void {
    open.delete(one)
    const { taskId } = one
    if (taskId === undefined || [...open].some((other) => other.taskId === taskId)) return
    cursors.delete(taskId)
  }

  return {
    async *run(source, outer, taskId) {
      const one: Open = { taskId, abort: new AbortController() }
      const end = (): void => one.abort.abort(outer?.reason)
      outer?.throwIfAborted()
      outer?.addEventListener('abort', end, { once: true })
      open.add(one)
      try {
        for await (const frame of source(one.abort.signal)) {
          note(one, frame)
          yield frame
        }
      } catch (error) {
        if (one.abort.signal.reason !== released) throw error
      } finally {
        outer?.removeEventListener('abort', end)
        forget(one)
      }
    },
    letGo(taskId) {
      const cursor = cursors.get(taskId)
      for (const one of [...open]) if (one.taskId === taskId) one.abort.abort(released)
      return cursor
    },
  }
}

export function taskIdIn(frame: TaskFrame): string | undefined {
  if (frame.kind === 'task') return frame.task.id
  return frame.kind === 'message' ? undefined : frame.taskId
}
