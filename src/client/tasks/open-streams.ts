/** The open streams of the client, by task, so that it can detach from a task without stopping it. */
import type { TaskFrame } from './task-types.ts'

export interface Streams {
  /** Runs a stream. After `detach` it ends without an error. @param taskId if it is known before the first frame */
  run(
    source: (signal: AbortSignal) => AsyncGenerator<TaskFrame, void>,
    outer: AbortSignal | undefined,
    taskId?: string,
  ): AsyncGenerator<TaskFrame, void>
  /** Ends every stream of the task. @returns the cursor of the last frame that was delivered */
  detach(taskId: string): string | undefined
}

interface OpenStream {
  taskId: string | undefined
  readonly abort: AbortController
}

export function createStreams(): Streams {
  const open = new Set<OpenStream>()
  const cursors = new Map<string, string>()
  const detached = new Error('detached')

  function keepCursor(one: OpenStream, frame: TaskFrame): void {
    one.taskId ??= taskIdOf(frame)
    if (one.taskId === undefined || frame.cursor === '') return
    cursors.set(one.taskId, frame.cursor)
  }

  /** A cursor is kept while a stream of its task is open. */
  function close(one: OpenStream): void {
    open.delete(one)
    const { taskId } = one
    if (taskId === undefined || [...open].some((other) => other.taskId === taskId)) return
    cursors.delete(taskId)
  }

  return {
    async *run(source, outer, taskId) {
      const one: OpenStream = { taskId, abort: new AbortController() }
      const end = (): void => one.abort.abort(outer?.reason)
      outer?.throwIfAborted()
      outer?.addEventListener('abort', end, { once: true })
      open.add(one)
      try {
        for await (const frame of source(one.abort.signal)) {
          keepCursor(one, frame)
          yield frame
        }
      } catch (error) {
        if (one.abort.signal.reason !== detached) throw error
      } finally {
        outer?.removeEventListener('abort', end)
        close(one)
      }
    },
    detach(taskId) {
      const cursor = cursors.get(taskId)
      for (const one of [...open]) if (one.taskId === taskId) one.abort.abort(detached)
      return cursor
    },
  }
}

export function taskIdOf(frame: TaskFrame): string | undefined {
  if (frame.kind === 'task') return frame.task.id
  return frame.kind === 'message' ? undefined : frame.taskId
}
