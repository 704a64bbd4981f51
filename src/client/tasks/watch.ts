/**
 * Follows a task to its end, across lost connections and restarts of the server.
 *
 *  W1  A broken stream continues after the last frame that arrived. No frame is lost or repeated.
 *  W2  A peer that cannot continue a stream is asked for the task. That frame is marked `reread`, and is omitted when
 *      nothing changed.
 *  W3  The waits for an unreachable peer grow and are random, so that clients do not return at the same time.
 *  W4  The watch ends with the frame that shows the end of the task, or with an error that a retry cannot fix.
 *  W5  A peer without streams is polled.
 */
import { isTerminal } from '../../core/states.ts'
import { type ClientError, isClientError } from '../client-error.ts'
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

/** Options of a watch that continues another stream. */
export interface Continued {
  /** The watch ends after a state for which this is true. */
  readonly ends: (state: TaskState) => boolean
  /** Frames of the task were read before. */
  readonly begun: boolean
}

export async function* watch(
  deps: WatchDeps,
  taskId: string,
  signal: AbortSignal,
  { after, onLost }: WatchOptions,
  { ends, begun }: Continued = { ends: isOver, begun: after !== undefined },
): AsyncGenerator<TaskFrame, void> {
  const withoutRepeats = createFilterRepeats(begun)
  let cursor = after
  let polls = false
  let waitMs = FIRST_WAIT_MS
  for (;;) {
    const source = polls ? once(deps, taskId, signal) : deps.subscribe(taskId, cursor, signal)
    let broke: ClientError | undefined
    try {
      for await (const given of source) {
        if (given.cursor !== '') cursor = given.cursor
        const frame = withoutRepeats(given)
        if (frame !== undefined) {
          waitMs = FIRST_WAIT_MS
          yield frame
        }
        if (ends(stateIn(given) ?? 'unknown')) return
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!isClientError(error)) throw error
      if (!polls && isNoStream(error)) {
        polls = true
        continue
      }
      if (!error.isTransient) throw error
      broke = error
    }
    if (!polls && waitMs === FIRST_WAIT_MS) onLost?.(broke)
    await deps.sleep(waitMs * (0.5 + deps.random() / 2), signal)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

/** A peer refuses a subscription when the task has ended, and when it has no streams. Both are read by `get`. */
function isNoStream({ kind, reason }: ClientError): boolean {
  return kind === 'unsupported' || ['UNSUPPORTED_OPERATION', 'METHOD_NOT_FOUND'].includes(reason)
}

async function* once(
  { get }: WatchDeps,
  taskId: string,
  signal: AbortSignal,
): AsyncGenerator<TaskFrame, void> {
  yield { kind: 'task', cursor: '', task: await get(taskId, signal) }
}

/** @returns the frame, marked when it was read again; undefined when it repeats the previous snapshot */
type FilterRepeats = (frame: TaskFrame) => TaskFrame | undefined

function createFilterRepeats(begun: boolean): FilterRepeats {
  let began = begun
  /** The last frame, if it was a snapshot. */
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

export function stateIn(frame: TaskFrame): TaskState | undefined {
  if (frame.kind === 'task') return frame.task.state
  return frame.kind === 'status' ? frame.state : undefined
}

export function isOver(state: TaskState): boolean {
  return state !== 'unknown' && isTerminal(state)
}
