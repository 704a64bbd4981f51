/** The log of a task, read page by page. */
import type { LogRecord } from '../../core/records.ts'
import type { TaskKey, TaskStore } from '../../ports/store/tasks.ts'

const PAGE = 256

export async function* logOf(
  store: Pick<TaskStore, 'records'>,
  { tenant, id }: TaskKey,
  after = 0,
): AsyncGenerator<LogRecord, void> {
  let seq = after
  for (;;) {
    const page = await store.records(tenant, id, seq, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    seq = last.seq
  }
}
