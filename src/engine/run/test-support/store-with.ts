import { fold } from '../../../core/evolve.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { commitOfLog } from '../../../testing/replay-task.ts'

/** A store that holds the first records of a log, as a process that died there would have left it. For tests only. */
export async function storeWith(records: readonly LogRecord[]): Promise<Store> {
  const store = createMemoryStore()
  const task = fold(records) as Task
  await store.commit([commitOfLog(task, records)])
  return store
}
