/**
 * Starts the guard thread and tells it what it needs to know.
 *
 * LG1  The thread begins with the first lease, and ends with the store. It keeps no process alive, and no exit waits for it.
 * LG2  A thread that ended by itself is started again. Until then the loop renews the lease as it always does.
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

/** Node 20 cannot load TypeScript. In a program that was bundled, the file may be missing. */
const entry = new URL('./guard-thread.js', import.meta.url)

/** Undefined when there is no thread to start. The loop alone renews the lease then. */
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
