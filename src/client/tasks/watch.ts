/**
 * Watches a task to its end, or waits for a state of it, across lost connections and restarts of the server.
 *
 *  W1  A broken stream continues after the last frame that arrived. No frame is lost or repeated.
 *  W2  When the peer cannot continue a stream, the client reads the task. That frame is marked `reread`, and is omitted
 *      when nothing changed.
 *  W3  The waits for an unreachable peer grow and are random, so that clients do not return at the same time.
 *  W4  The watch ends with the frame that shows the end of the task, or with an error that a retry cannot fix.
 *  W5  A peer without streams is polled.
 */

import { isTerminal } from '../../core/states.ts'
import type { Client, ClientParts } from '../client.ts'
import { ClientError, isClientError } from '../client-error.ts'
import { operations } from '../wire/a2a-names.ts'
import { applyFrame } from './apply-frame.ts'
import type { TaskCalls } from './task-calls.ts'
import type { SnapshotFrame, Task, TaskFrame, TaskState } from './task-types.ts'

export interface WatchOptions {
  /** The cursor of a frame: the watch starts after it. Without a cursor the first frame is the current task. */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called each time the connection breaks. */
  readonly onLost?: ((error: ClientError | undefined) => void) | undefined
}

export interface WatchDeps {
  readonly subscribe: (
    taskId: string,
    after: string | undefined,
    signal: AbortSignal,
  ) => AsyncGenerator<TaskFrame, void>
  readonly get: (taskId: string, signal: AbortSignal) => Promise<Task>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

/** Set when a watch continues a stream that was opened by sending a message. */
export interface Continuation {
  /** Whether the watch ends after this state. */
  readonly ends: (state: TaskState) => boolean
  /** Whether frames of the task were read before. */
  readonly begun: boolean
}

export async function* followTask(
  deps: WatchDeps,
  taskId: string,
  signal: AbortSignal,
  { after, onLost }: WatchOptions,
  { ends, begun }: Continuation = { ends: isOver, begun: after !== undefined },
): AsyncGenerator<TaskFrame, void> {
  const withoutRepeats = createRepeatFilter(begun)
  let cursor = after
  let isPolling = false
  let waitMs = FIRST_WAIT_MS
  for (;;) {
    const source = isPolling ? poll(deps, taskId, signal) : deps.subscribe(taskId, cursor, signal)
    let failure: ClientError | undefined
    try {
      for await (const received of source) {
        if (received.cursor !== '') cursor = received.cursor
        const frame = withoutRepeats(received)
        if (frame !== undefined) {
          waitMs = FIRST_WAIT_MS
          yield frame
        }
        if (ends(stateOf(received) ?? 'unknown')) return
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!isClientError(error)) throw error
      if (!isPolling && isNoStream(error)) {
        isPolling = true
        continue
      }
      if (!error.isTransient) throw error
      failure = error
    }
    if (!isPolling && waitMs === FIRST_WAIT_MS) onLost?.(failure)
    await deps.sleep(waitMs * (0.5 + deps.random() / 2), signal)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

/** A peer refuses to subscribe when the task has ended or when it has no streams. `get` reads the task in both cases. */
function isNoStream({ kind, reason }: ClientError): boolean {
  return kind === 'unsupported' || ['UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND'].includes(reason)
}

async function* poll(
  { get }: WatchDeps,
  taskId: string,
  signal: AbortSignal,
): AsyncGenerator<TaskFrame, void> {
  yield { kind: 'task', cursor: '', task: await get(taskId, signal) }
}

/** @returns the frame, marked `reread` unless it is the first; undefined when it repeats the previous snapshot */
type RepeatFilter = (frame: TaskFrame) => TaskFrame | undefined

function createRepeatFilter(begun: boolean): RepeatFilter {
  let began = begun
  /** The previous frame as JSON, if it was a snapshot. */
  let last: string | undefined
  return (frame) => {
    const isFirst = !began
    began = true
    if (frame.kind !== 'task') {
      last = undefined
      return frame
    }
    const text = JSON.stringify(frame.task)
    if (text === last) return undefined
    last = text
    return isFirst ? frame : ({ ...frame, reread: true } satisfies SnapshotFrame)
  }
}

export function stateOf(frame: TaskFrame): TaskState | undefined {
  if (frame.kind === 'task') return frame.task.state
  return frame.kind === 'status' ? frame.state : undefined
}

export function isOver(state: TaskState): boolean {
  return state !== 'unknown' && isTerminal(state)
}

/** Follows a task until `ends`, after the frames that another stream has read. */
export type Follow = (
  taskId: string,
  signal: AbortSignal,
  options: WatchOptions,
  ends: (state: TaskState) => boolean,
) => AsyncGenerator<TaskFrame, void>

type Watching = Pick<Client, 'watch' | 'waitFor'> & { readonly follow: Follow }

export function createWatch(parts: ClientParts, { get }: TaskCalls): Watching {
  const { transport, read, streams, waiting } = parts

  const deps: WatchDeps = {
    ...waiting,
    get: (taskId, signal) => get(taskId, { signal }),
    async *subscribe(id, after, signal) {
      const headers = after === undefined ? {} : { 'last-event-id': after }
      const frames = transport.stream(operations.subscribe, { id }, { signal, headers })
      for await (const { cursor, value } of frames) {
        const frame = read.frame(value, cursor)
        if (frame !== undefined) yield frame
      }
    },
  }

  const watching: Watching = {
    follow: (taskId, signal, options, ends) =>
      followTask(deps, taskId, signal, options, { ends, begun: true }),
    watch: (taskId, options = {}) =>
      streams.run((signal) => followTask(deps, taskId, signal, options), options.signal, taskId),
    async waitFor(taskId, wanted, options = {}) {
      const isWanted = (task: Task): boolean =>
        typeof wanted === 'function' ? wanted(task) : task.state === wanted
      let task: Task | undefined
      for await (const frame of watching.watch(taskId, options)) {
        task = applyFrame(task, frame) ?? (await get(taskId, options))
        if (isWanted(task)) return task
      }
      throw new ClientError(
        'refused',
        `Task ${taskId} is ${task?.state ?? 'not followed any more'}`,
        {
          reason: 'TASK_TERMINAL',
          details: { taskId, state: task?.state ?? 'unknown' },
        },
      )
    },
  }
  return watching
}

/** The open streams of the client, by task, so that it can detach from a task without stopping it. */
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
