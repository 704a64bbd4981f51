/** Entry of the writing thread, started by `writer.ts`. Its connection is the only one of the process that writes. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { createDatabaseStore, type DatabaseStore } from '../database-store.ts'
import { toStoreError } from '../failures.ts'
import { loadDriver } from '../files/driver.ts'
import { watchFiles } from '../files/file-watch.ts'
import { guardWrites } from '../files/guarded-writes.ts'
import { openDatabase } from '../files/open-database.ts'
import type { EncodedCommit } from '../tasks/encoded-commit.ts'
import { type Answer, type Call, encodeError, encodeResults, type WriterData } from './messages.ts'
import { createWriterLock } from './writer-lock.ts'

/**
 * The most commits of one transaction. Batches that arrive while a transaction runs share the next
 * one, and its fsync.
 */
const MAX_COMMITS = 128

const port = parentPort
if (port === null) throw new Error('this file is the entry of a thread')
const post = (answers: readonly Answer[]): void => port.postMessage(answers)

async function open(): Promise<DatabaseStore> {
  const { file, fd, ...options } = workerData as WriterData
  const db = openDatabase(await loadDriver(), file, options)
  const store = createDatabaseStore(db, () => undefined)
  return guardWrites(store, db, watchFiles(fd, file), options)
}

/**
 * Takes the first call off the queue. If it is a write, takes the following writes too, up to one
 * transaction.
 */
function takeBatch(calls: Call[]): readonly Call[] {
  let commits = 0
  let count = 0
  for (const call of calls) {
    if (!('write' in call)) break
    commits += call.write.length
    if (count > 0 && commits > MAX_COMMITS) break
    count++
  }
  return calls.splice(0, Math.max(1, count))
}

async function answersTo(store: DatabaseStore, calls: readonly Call[]): Promise<readonly Answer[]> {
  try {
    const [call] = calls
    if (call !== undefined && 'method' in call) {
      const method = store[call.method] as (...args: readonly unknown[]) => Promise<unknown>
      return [{ value: await method(...call.args) }]
    }
    return await writeAll(store, calls)
  } catch (error) {
    const answer = { error: encodeError(error) }
    return calls.map(() => answer)
  }
}

async function writeAll(store: DatabaseStore, calls: readonly Call[]): Promise<readonly Answer[]> {
  const commits: EncodedCommit[] = []
  const ends = calls.map((call) => {
    if ('write' in call) commits.push(...call.write)
    return commits.length
  })
  const results = await store.write(commits)
  return ends.map((end, n) => ({ value: encodeResults(results.slice(ends[n - 1] ?? 0, end)) }))
}

try {
  const store = await open()
  const lock = createWriterLock((workerData as WriterData).lock)
  const calls: Call[] = []

  const takeArrived = (): void => {
    for (let one = receiveMessageOnPort(port); one !== undefined; ) {
      calls.push(one.message as Call)
      one = receiveMessageOnPort(port)
    }
  }

  const drainQueue = async (): Promise<void> => {
    while (calls.length > 0) {
      const next = takeBatch(calls)
      const answers = await lock.during(() => answersTo(store, next))
      // Undefined: the process is exiting.
      if (answers === undefined) return
      post(answers)
      if (next.some((call) => 'method' in call && call.method === 'close')) {
        port.close()
        return
      }
      takeArrived()
    }
  }

  // Calls run in the order of arrival. A call starts after the one before it is answered.
  let last = Promise.resolve()
  port.on('message', (call: Call) => {
    calls.push(call)
    takeArrived()
    last = last.then(drainQueue)
  })
  post([{ opened: true }])
} catch (error) {
  post([{ error: encodeError(toStoreError(error)) }])
  port.close()
}
