/**
 * `GET /ops/changes`: tasks that changed, as server-sent events.
 *
 *  F1  Changes are batched. A reader gets at most one message per interval, and each task at most once per message.
 *  F2  A slow reader gets fewer messages and takes no more memory. A message has at most `MOST` tasks. If more tasks
 *      changed, it says `more`, and the reader loads its lists again.
 */
import type { Task } from '../../core/task.ts'
import { type Caller, maySee } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FrameBatch, FrameSource, Heartbeat } from '../../http/event-stream.ts'
import { frameText } from '../../http/event-stream.ts'
import type { Changes } from '../../wire/ops/tasks.ts'
import { summaryOf } from './task-summary.ts'

const MOST = 200
const INTERVAL_MS = 250

export interface ChangesDeps {
  readonly engine: Pick<Engine, 'watch'>
  readonly now: () => number
  readonly after: (ms: number, callback: () => void) => () => void
  readonly heartbeat: Heartbeat
}

export function changesFor(deps: ChangesDeps, caller: Caller): FrameSource {
  const changed = new Map<string, Task>()
  let [more, closed, number] = [false, false, 0]
  let notify: () => void = () => undefined
  let earliest = 0

  const stopWatching = deps.engine.watch((task) => {
    if (!maySee(caller, task)) return
    if (changed.size < MOST || changed.has(task.id)) changed.set(task.id, task)
    else more = true
    notify()
  })

  const something = (): Promise<void> =>
    new Promise((resolve) => {
      notify = resolve
      if (closed || changed.size > 0) resolve()
    })

  const waited = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = deps.after(ms, resolve)
      notify = () => {
        if (!closed) return
        cancel()
        resolve()
      }
    })

  async function next(): Promise<FrameBatch> {
    // The first frame tells the reader that the feed is open. Every later change is reported.
    if (number === 0) return frame({ tasks: [], more: false })
    await something()
    const early = earliest - deps.now()
    if (early > 0 && !closed) await waited(early)
    if (closed) return { text: '', last: true }
    const now = deps.now()
    earliest = now + INTERVAL_MS
    const changes = { tasks: [...changed.values()].map((task) => summaryOf(task, now)), more }
    changed.clear()
    more = false
    return frame(changes)
  }

  function frame(changes: Changes): FrameBatch {
    number++
    return { text: frameText({ id: String(number), data: JSON.stringify(changes) }), last: false }
  }

  return {
    next,
    heartbeat: deps.heartbeat,
    close() {
      closed = true
      stopWatching()
      changed.clear()
      notify()
    },
  }
}
