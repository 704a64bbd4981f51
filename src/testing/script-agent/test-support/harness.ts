/** An engine with a manual clock and the script agent. */
import { setImmediate as tick } from 'node:timers/promises'
import type { Message } from '../../../core/messages/message.ts'
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import { createEngine, type Engine } from '../../../engine/engine.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../counting-ids.ts'
import { createManualClock, type ManualClock } from '../../manual-clock.ts'
import { testSigner } from '../../test-signer.ts'
import type { ScriptOp } from '../ops.ts'
import { createScriptAgent } from '../script-agent.ts'

export const caller = { tenant: 'acme', principal: 'ann' }

export interface Harness {
  readonly engine: Engine
  readonly clock: ManualClock
  /** The lines that the steps wrote. */
  readonly lines: string[]
  send(message: Partial<Message>): Promise<Task>
  run(...ops: readonly ScriptOp[]): Promise<Task>
  ended(task: Task): Promise<Task>
  reached(task: Task, state: Task['state']): Promise<Task>
  log(task: Task): Promise<readonly LogRecord[]>
}

export async function createHarness(): Promise<Harness> {
  const store = createMemoryStore()
  const clock = createManualClock()
  const ids = createCountingIds()
  const lines: string[] = []
  const agent = createScriptAgent({ clock, effects: (line) => lines.push(line) })
  const memory = { usedBytes: () => 0 }
  const log = (): void => undefined
  const engine = createEngine({
    store,
    agents: [agent],
    clock,
    ids,
    signer: testSigner,
    log,
    memory,
  })
  await engine.start()
  let messages = 0

  async function send(message: Partial<Message>): Promise<Task> {
    const messageId = `message-${++messages}`
    const sent = await engine.send(caller, {
      message: { messageId, role: 'ROLE_USER', parts: [{ text: '' }], ...message },
    })
    if (sent.kind !== 'task') throw new Error(`answered with a message: ${JSON.stringify(sent)}`)
    return sent.task
  }

  const reached: Harness['reached'] = (task, state) =>
    engine.waitFor(caller, task.id, (now) => now.state === state || isTerminal(now.state))

  return {
    engine,
    clock,
    lines,
    send,
    run: (...ops) => send({ parts: [{ data: { script: ops } as never }] }),
    ended: (task) => engine.waitFor(caller, task.id, (now) => isTerminal(now.state)),
    reached,
    log: (task) => store.records(task.tenant, task.id, 0, 1_000),
  }
}

/** Yields to the event loop until the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  for (let rounds = 0; !condition(); rounds++) {
    if (rounds > 10_000) throw new Error(`never: ${condition}`)
    await tick()
  }
}
