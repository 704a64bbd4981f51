/** The log of a task, read page by page. */
import type { LogRecord } from '../../core/records.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'

const PAGE = 256

export async function* logOf(
  store: Pick<TaskStore, 'records'>,
  taskId: string,
  after = 0,
): AsyncGenerator<LogRecord, void> {
  let seq = after
  for (;;) {
    const page = await store.records(taskId, seq, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    seq = last.seq
  }
}
