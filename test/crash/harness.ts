/** One data directory and the worker process that has it open, for tests of single guarantees. */
import type { State, TerminalState } from '../../src/core/states.ts'
import type { Task } from '../../src/core/task.ts'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { startWorker, type Worker } from '../support/worker-process.ts'
import { type Effect, parseEffect, readEffects } from './effects-file.ts'
import { temporaryData } from './lives.ts'
import type { News, WorkerOptions } from './worker.ts'

export interface Harness {
  readonly data: string
  readonly worker: () => Worker
  /** Kills the worker, if there is one, and starts the next. */
  restart(options?: Omit<WorkerOptions, 'data'>): Promise<Worker>
  run(...ops: readonly ScriptOp[]): Promise<string>
  reached(taskId: string, ...states: readonly State[]): Promise<Task>
  ended(taskId: string): Promise<Task>
  /** Resolves when a step of that name begins, from now on. */
  begins(name: string): Promise<void>
  /** So much time passes in the worker: as long as a step of another task takes. */
  pass(ms: number): Promise<void>
  /** What the steps of the task left behind so far, as "begin name". */
  effects(taskId: string): readonly string[]
}

const terminal: readonly TerminalState[] = ['completed', 'failed', 'canceled', 'rejected']

export async function createHarness(first: Omit<WorkerOptions, 'data'> = {}): Promise<Harness> {
  const data = temporaryData()
  let messages = 0
  let worker = await startWorker({ data, ...first })

  async function run(...ops: readonly ScriptOp[]): Promise<string> {
    const messageId = `message-${++messages}`
    const parts = [{ data: { script: ops } }]
    const sent = await worker.call('send', { message: { messageId, role: 'ROLE_USER', parts } })
    if (sent.kind !== 'task') throw new Error('a script is a task')
    return sent.task.id
  }

  const reached: Harness['reached'] = (taskId, ...states) => worker.call('waitFor', taskId, states)
  const ended: Harness['ended'] = (taskId) => reached(taskId, ...terminal)

  return {
    data,
    worker: () => worker,
    async restart(options = {}) {
      await worker.kill()
      worker = await startWorker({ data, ...options })
      return worker
    },
    run,
    reached,
    ended,
    async begins(name) {
      await worker.next((news): news is News => {
        if (news.kind !== 'effect') return false
        const effect = parseEffect(news.line)
        return effect.kind === 'begin' && effect.name === name
      })
    },
    async pass(ms) {
      await ended(await run({ step: 'time', ms }))
    },
    effects: (taskId) =>
      readEffects(data)
        .filter((effect) => effect.taskId === taskId)
        .map(({ kind, name }: Effect) => `${kind} ${name}`),
  }
}
