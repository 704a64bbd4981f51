/** Watches a task, or waits for a state of it. */
import type { Client } from './client.ts'
import { ClientError } from './client-error.ts'
import type { ClientParts } from './parts.ts'
import { applyFrame } from './tasks/apply-frame.ts'
import type { Reading } from './tasks/task-calls.ts'
import type { Task, TaskFrame, TaskState } from './tasks/task-types.ts'
import { type WatchDeps, type WatchOptions, watch } from './tasks/watch.ts'
import { operations } from './wire/a2a-names.ts'

/** Follows a task until `ends`, after the frames that another stream has read. */
export type Follow = (
  taskId: string,
  signal: AbortSignal,
  options: WatchOptions,
  ends: (state: TaskState) => boolean,
) => AsyncGenerator<TaskFrame, void>

type Watching = Pick<Client, 'watch' | 'waitFor'> & { readonly follow: Follow }

export function createWatch(parts: ClientParts, { get }: Reading): Watching {
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
      watch(deps, taskId, signal, options, { ends, begun: true }),
    watch: (taskId, options = {}) =>
      streams.run((signal) => watch(deps, taskId, signal, options), options.signal, taskId),
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
