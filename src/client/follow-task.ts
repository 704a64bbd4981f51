/**
 * Follows a task to its end, whatever happens to the connection and to the server.
 *
 *  W1  a stream that breaks is continued after the last frame that arrived: nothing is lost, nothing comes twice;
 *  W2  a peer that cannot continue is asked for the task as it stands; that frame says so (`reread`), and it is left out
 *      when it says nothing new;
 *  W3  a peer that is gone is waited for, longer each time and never in step with others;
 *  W4  it ends with the frame that says the task has ended, or with what no waiting will mend;
 *  W5  a peer without streams is asked again and again instead.
 */
import { isTerminal } from '../core/states.ts'
import { type ClientError, isClientError } from './client-error.ts'
import type { SnapshotFrame, Task, TaskFrame, TaskState } from './task.ts'

export interface WatchOptions {
  /** The cursor of a frame: go on after it. Without one the first frame is the task as it stands. */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The connection broke; called once for every time it does. */
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

/** How a watch differs that is a part of another stream. */
export interface Continued {
  /** The state after which nothing is waited for any more. */
  readonly ends: (state: TaskState) => boolean
  /** Frames were read already. */
  readonly begun: boolean
}

export async function* watch(
  deps: WatchDeps,
  taskId: string,
  signal: AbortSignal,
  { after, onLost }: WatchOptions,
  { ends, begun }: Continued = { ends: isOver, begun: after !== undefined },
): AsyncGenerator<TaskFrame, void> {
  const newsIn = createNews(begun)
  let cursor = after
  let polls = false
  let waitMs = FIRST_WAIT_MS
  for (;;) {
    const source = polls ? once(deps, taskId, signal) : deps.subscribe(taskId, cursor, signal)
    let broke: ClientError | undefined
    try {
      for await (const given of source) {
        if (given.cursor !== '') cursor = given.cursor
        const frame = newsIn(given)
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
      if (!error.isPassing) throw error
      broke = error
    }
    if (!polls && waitMs === FIRST_WAIT_MS) onLost?.(broke)
    await deps.sleep(waitMs * (0.5 + deps.random() / 2), signal)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

/**
 * To a newcomer a task that has ended has nothing to say, and some agents have no streams: both refuse, and both are
 * asked for the task instead.
 */
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

/** The frame, marked as read again where it is; undefined when it says what the one before it said. */
type News = (frame: TaskFrame) => TaskFrame | undefined

function createNews(begun: boolean): News {
  let began = begun
  /** The last frame, while that is a snapshot. */
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
