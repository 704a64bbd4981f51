/**
 * Starts the guard thread and passes it what it needs.
 *
 * LG1  The thread begins with the first lease, and ends with the store. It does not keep the
 *      process alive, and the exit does not wait for it.
 * LG2  A thread that ended unexpectedly is started again. Until then only the event loop renews the
 *      lease.
 */
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { GuardedLease, LoopGuard } from '../../../ports/store/cluster.ts'
import type { DatabaseOptions } from '../connection/database.ts'
import { createLoopMemory } from './loop-memory.ts'

/** What the thread is started with. */
export interface GuardData {
  readonly database: DatabaseOptions
  readonly memory: SharedArrayBuffer
}

export interface OpenLoopGuard extends LoopGuard {
  close(): Promise<void>
}

const RESTART_MS = 1_000

/**
 * The compiled file. It does not exist when Lull runs from TypeScript sources, which Node 20 cannot
 * load, and may be missing in a bundled program.
 */
const entry = new URL('./guard-thread.js', import.meta.url)

/** Undefined when there is no thread to start. Then only the event loop renews the lease. */
export function createLoopGuard(database: DatabaseOptions): OpenLoopGuard | undefined {
  if (!existsSync(entry)) return undefined
  const loop = createLoopMemory()
  const workerData: GuardData = { database, memory: loop.memory }
  let thread: Worker | undefined
  let lease: GuardedLease | undefined
  let closed = false
  let running: string | undefined

  function start(): void {
    if (closed || thread !== undefined) return
    // `execArgv` is empty because flags of the program, such as `--input-type`, do not apply to the thread.
    const started = new Worker(entry, { workerData, execArgv: [], name: 'lull-loop-guard' })
    thread = started
    started.unref()
    started.on('error', () => undefined)
    started.once('exit', () => {
      thread = undefined
      setTimeout(start, RESTART_MS).unref()
    })
    tell()
  }

  function tell(): void {
    thread?.postMessage({ lease })
  }

  return {
    guard(given) {
      lease = given
      if (lease !== undefined) start()
      tell()
    },
    turned(suspect) {
      loop.write('suspect', suspect)
      loop.turn()
    },
    running(taskId) {
      const before = running
      running = taskId
      if (taskId !== before) loop.write('running', taskId)
      return before
    },
    async close() {
      closed = true
      await thread?.terminate()
    },
  }
}
