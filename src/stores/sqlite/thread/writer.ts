/**
 * The writing thread, seen from the others. Waiting for the disk, and SQLite's own work, happen over there.
 *
 * A thread that ends by itself is not started again: whether its last batch was written is unknown, and trying again
 * could write it twice. Every call then fails, and the next process reads what there is.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { LullError } from '../../../core/errors.ts'
import { toStoreError } from '../failures.ts'
import {
  type Answer,
  type Call,
  gone,
  revived,
  type WriterData,
  type WriterOptions,
} from './messages.ts'
import { createWriterLock } from './writer-lock.ts'

export interface Writer {
  /** Carried out in the order of the calls. @throws what was thrown there */
  call(call: Call): Promise<unknown>
  /** Closes the file and resolves when the thread has ended. */
  end(): Promise<void>
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const SOURCE = /\.ts$/
/** How long a process that exits waits for the call under way. */
const EXIT_MS = 2_000
/** How long closing waits for the thread. */
const END_MS = 10_000

/** Whether a thread can load this very code: Node 20 reads no TypeScript. */
export const canLoad: boolean = !SOURCE.test(import.meta.url)

/** @throws LullError `STORE_UNAVAILABLE` when the thread could not open the file */
export async function startWriter(
  options: WriterOptions,
  lost: (error: LullError<'STORE_UNAVAILABLE'>) => void = () => undefined,
): Promise<Writer> {
  const entry = new URL(`./writer-thread.${canLoad ? 'js' : 'ts'}`, import.meta.url)
  // Flags of the program, such as `--input-type`, are not for it.
  const lock = createWriterLock()
  const workerData: WriterData = { ...options, lock: lock.memory }
  const thread = new Worker(entry, { workerData, execArgv: [], name: 'lull-writer' })
  const exiting = (): void => lock.shut(EXIT_MS)
  process.once('exit', exiting)
  const waiting: Waiting[] = []
  let alive = true
  let opened = false
  let ending = false

  function settle(answer: Answer): void {
    const one = waiting.shift()
    // An open store alone keeps no process running; an answer that is to come does.
    if (waiting.length === 0 && !ending) thread.unref()
    if ('error' in answer) one?.reject(revived(answer.error))
    else one?.resolve('value' in answer ? answer.value : undefined)
  }

  function fail(cause: unknown): void {
    if (!alive) return
    alive = false
    process.off('exit', exiting)
    const error = opened ? gone(cause) : toStoreError(cause)
    for (const one of waiting.splice(0)) one.reject(error)
    if (opened && !ending) lost(gone(cause))
  }

  const ended = once(thread, 'exit').catch(() => undefined)
  thread.on('message', (answers: readonly Answer[]) => answers.forEach(settle))
  thread.on('error', fail).on('exit', fail)
  await new Promise((resolve, reject) => waiting.push({ resolve, reject }))
  opened = true

  const call = (asked: Call): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!alive) return reject(gone())
      // First: what cannot be sent throws, and must not wait for an answer that would be another's.
      thread.postMessage(asked)
      if (waiting.length === 0) thread.ref()
      waiting.push({ resolve, reject })
    })

  return {
    call,
    async end() {
      ending = true
      const closed = call({ method: 'close', args: [] }).catch(() => undefined)
      // A disk that does not answer must not keep the process from ending.
      await Promise.race([closed.then(() => ended), sleep(END_MS, undefined, { ref: false })])
    },
  }
}
