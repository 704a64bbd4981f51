/** A file to import whose log ends with a record as a test gives it. For tests only. */
import type { TaskExport } from '../../../core/receipts/task-export.ts'
import type { RecordBody, RecordType } from '../../../core/records.ts'
import { exportOf } from '../../../engine/test-support/forged-export.ts'
import { examples } from '../../../engine/test-support/record-examples.ts'
import { testSigner } from '../../../testing/test-signer.ts'

const owned = { tenant: 'default', principal: 'anonymous' }

/** The last record of the type's example, of a task of the owner of the process. */
export function lastRecord(type: RecordType): unknown {
  const last = examples[type].at(-1)
  return type === 'submitted' ? { ...last, ...owned } : last
}

/** The log of the type's example, with another last record. */
export function exampleFile(type: RecordType, last: unknown, taskId: string): TaskExport {
  const [submission] = examples.submitted
  const first = { ...submission, ...owned, contextId: `context-${type}` } as RecordBody
  const started = { type: 'started', run: { token: 't', worker: 'w' }, deaths: 0 } as RecordBody
  const before = type === 'submitted' ? [] : [first, started, ...examples[type].slice(0, -1)]
  const named = JSON.stringify([...before, last ?? null]).replaceAll('"forged"', `"${taskId}"`)
  return exportOf(taskId, JSON.parse(named) as readonly RecordBody[], testSigner)
}
