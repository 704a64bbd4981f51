/**
 * Follows a task to its end, whatever happens to the connection: a stream that breaks is continued after the last event
 * that arrived, so that nothing is lost and nothing comes twice. A server that is gone is waited for.
 */
import { isTerminal, type State } from '../core/states.ts'
import type { A2AClient, TaskFrame } from './a2a-client.ts'
import { RefusedError, UnreachableError } from './client-error.ts'
import { type StreamFrame, stateOf } from './wire-task.ts'

export interface FollowOptions {
  /** Where to go on; without it the first frame is the task as it stands. */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** The connection broke; called once for every time it does. */
  readonly lost?: (error: UnreachableError | undefined) => void
  readonly wait?: (ms: number) => Promise<void>
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

export async function* follow(
  client: A2AClient,
  taskId: string,
  options: FollowOptions = {},
): AsyncGenerator<TaskFrame, void> {
  const { signal, lost, wait = sleep } = options
  let { after } = options
  let waitMs = FIRST_WAIT_MS
  const over = (): boolean => signal?.aborted === true
  while (!over()) {
    let broke: UnreachableError | undefined
    try {
      for await (const next of client.subscribe(taskId, { signal, lastEventId: after })) {
        waitMs = FIRST_WAIT_MS
        if (next.id !== '') after = next.id
        yield next
        if (isLast(next.frame)) return
      }
    } catch (error) {
      if (error instanceof RefusedError && error.reason === 'UNSUPPORTED_OPERATION') {
        // It ended before we came: all there is to tell is how.
        yield { id: '', frame: { task: await client.get(taskId) } }
        return
      }
      if (!(error instanceof UnreachableError)) throw error
      broke = error
    }
    if (over()) return
    if (waitMs === FIRST_WAIT_MS) lost?.(broke)
    await wait(waitMs)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

function isLast({ task, statusUpdate }: StreamFrame): boolean {
  const of = task ?? statusUpdate
  return of !== undefined && isTerminal(stateOf(of) as State)
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
