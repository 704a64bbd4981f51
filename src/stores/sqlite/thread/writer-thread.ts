/** The thread that writes: the only connection of the process that does. Started by `writer.ts`. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { createDatabaseStore, type DatabaseStore } from '../database-store.ts'
import { loadDriver } from '../driver.ts'
import type { EncodedCommit } from '../encoded-commit.ts'
import { toStoreError } from '../failures.ts'
import { openDatabase } from '../open-database.ts'
import { unflatten } from './flat-commits.ts'
import { type Answer, type Call, sent, thrown, type WriterData } from './messages.ts'
import { createWriterLock } from './writer-lock.ts'

/** Commits that share a transaction, and its fsync: what came while the ones before were written. */
const TOGETHER = 128

const port = parentPort
if (port === null) throw new Error('this file is the entry of a thread')
const say = (answers: readonly Answer[]): void => port.postMessage(answers)

async function open(): Promise<DatabaseStore> {
  const { file, ...options } = workerData as WriterData
  const db = openDatabase(await loadDriver(), file, options)
  return createDatabaseStore(db, () => undefined)
}

/** The first call, and the writes behind it that share its transaction. */
function takeFrom(calls: Call[]): readonly Call[] {
  let commits = 0
  let count = 0
  for (const call of calls) {
    if (!('write' in call)) break
    commits += call.commits
    if (count > 0 && commits > TOGETHER) break
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
    const answer = { error: thrown(error) }
    return calls.map(() => answer)
  }
}

async function writeAll(store: DatabaseStore, calls: readonly Call[]): Promise<readonly Answer[]> {
  const commits: EncodedCommit[] = []
  const ends = calls.map((call) => {
    if ('write' in call) unflatten(call.write, commits)
    return commits.length
  })
  const results = await store.write(commits)
  return ends.map((end, n) => ({ value: sent(results.slice(ends[n - 1] ?? 0, end)) }))
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

  const work = async (): Promise<void> => {
    while (calls.length > 0 && lock.enter()) {
      const next = takeFrom(calls)
      const answers = await answersTo(store, next)
      lock.leave()
      say(answers)
      if (next.some((call) => 'method' in call && call.method === 'close')) {
        port.close()
        return
      }
      takeArrived()
    }
  }

  // In the order they came: a call does not begin before the one before it is answered.
  let last = Promise.resolve()
  port.on('message', (call: Call) => {
    calls.push(call)
    takeArrived()
    last = last.then(work)
  })
  say([{ opened: true }])
} catch (error) {
  say([{ error: thrown(toStoreError(error)) }])
  port.close()
}
