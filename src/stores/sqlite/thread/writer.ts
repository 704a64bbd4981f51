/**
 * Starts the writing thread and sends calls to it. SQLite's work and the waiting for the disk happen on that thread.
 *
 * A thread that ended unexpectedly is not started again. Whether its last batch was written is
 * unknown, and writing it again could write it twice. Every call then fails until the process is
 * restarted.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { isLullError, type LullError } from '../../../core/errors.ts'
import { toStoreError } from '../failures.ts'
import {
  type Answer,
  type Call,
  decodeError,
  type WriterData,
  type WriterOptions,
  writerEnded,
} from './messages.ts'
import { createWriterLock } from './writer-lock.ts'

export interface Writer {
  /** Calls run in order. @throws the error the thread caught */
  call(call: Call): Promise<unknown>
  /** Closes the file and resolves when the thread has ended. */
  end(): Promise<void>
}

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const SOURCE = /\.ts$/
/** How long an exiting process waits for the running call. */
const EXIT_MS = 2_000
/** How long closing waits for the thread. */
const END_MS = 10_000

/** Whether a thread can load this code. Node 20 cannot load TypeScript. */
export const canLoad: boolean = !SOURCE.test(import.meta.url)

/** @throws LullError `STORE_UNAVAILABLE` when the thread could not open the file */
export async function startWriter(
  options: WriterOptions,
  lost: (error: LullError<'STORE_UNAVAILABLE'>) => void = () => undefined,
): Promise<Writer> {
  const entry = new URL(`./writer-thread.${canLoad ? 'js' : 'ts'}`, import.meta.url)
  const lock = createWriterLock()
  const workerData: WriterData = { ...options, lock: lock.memory }
  // `execArgv` is empty because flags of the program, such as `--input-type`, do not apply to the thread.
  const thread = new Worker(entry, { workerData, execArgv: [], name: 'lull-writer' })
  const exiting = (): void => lock.close(EXIT_MS)
  process.once('exit', exiting)
  const pending: PendingCall[] = []
  let alive = true
  let opened = false
  let ending = false
  let isLost = false

  /** Passes on an error, and reports it to `lost` if it says that only a restart helps. */
  function reported(error: Error): Error {
    if (isLullError(error, 'STORE_UNAVAILABLE') && error.details.restart === true && !isLost) {
      isLost = true
      lost(error)
    }
    return error
  }

  function settle(answer: Answer): void {
    const one = pending.shift()
    // A pending call keeps the process running. An open store alone does not.
    if (pending.length === 0 && !ending) thread.unref()
    if ('error' in answer) one?.reject(reported(decodeError(answer.error)))
    else one?.resolve('value' in answer ? answer.value : undefined)
  }

  function fail(cause: unknown): void {
    if (!alive) return
    alive = false
    process.off('exit', exiting)
    const error = opened ? writerEnded(cause) : toStoreError(cause)
    for (const one of pending.splice(0)) one.reject(error)
    if (opened && !ending) lost(writerEnded(cause))
  }

  const ended = once(thread, 'exit').catch(() => undefined)
  thread.on('message', (answers: readonly Answer[]) => answers.forEach(settle))
  thread.on('error', fail).on('exit', fail)
  await new Promise((resolve, reject) => pending.push({ resolve, reject }))
  opened = true

  const call = (message: Call): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!alive) return reject(writerEnded())
      // `postMessage` throws for a value that cannot be cloned. Such a call must not enter the queue of pending calls.
      thread.postMessage(message)
      if (pending.length === 0) thread.ref()
      pending.push({ resolve, reject })
    })

  return {
    call,
    async end() {
      ending = true
      const closed = call({ method: 'close', args: [] }).catch(() => undefined)
      // Closing must end even if the disk does not answer.
      await Promise.race([closed.then(() => ended), sleep(END_MS, undefined, { ref: false })])
    },
  }
}
