/** One client in one context, with a memory store and a manual clock. */

import type { Message } from '../../core/messages/message.ts'
import { isInterrupted, isPaused, isTerminal, type State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { CloudEvent } from '../../core/waiting/cloud-event.ts'
import type { Agent } from '../../engine/author/agent.ts'
import type { Caller } from '../../engine/caller.ts'
import { createEngine } from '../../engine/engine.ts'
import type { SendResult } from '../../engine/requests/send/send-result.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { testSigner } from '../../testing/test-signer.ts'

export interface Client {
  readonly clock: ManualClock
  /** Sends a text. @returns the stateless answer */
  say(text: string): Promise<Message>
  /** Sends a text. @returns the task when it has stopped or ended */
  ask(text: string, more?: Partial<Message>): Promise<Task>
  /** @returns the task when it has stopped or ended again */
  settled(taskId: string): Promise<Task>
  /** @returns the task when it is in that state */
  until(taskId: string, state: State): Promise<Task>
  emit(event: CloudEvent): Promise<void>
}

const ann: Caller = { tenant: 'acme', principal: 'ann' }

export async function openConversation(agents: readonly Agent[]): Promise<Client> {
  const clock = createManualClock()
  const engine = createEngine({
    store: createMemoryStore(),
    agents,
    clock,
    ids: createCountingIds(),
    signer: testSigner,
    log: () => undefined,
    memory: { usedBytes: () => 0 },
  })
  await engine.start()
  let count = 0

  async function send(text: string, more: Partial<Message> = {}): Promise<SendResult> {
    const messageId = `message-${++count}`
    const parts = [{ text }]
    const contextId = 'conversation'
    const message: Message = { messageId, role: 'ROLE_USER', parts, contextId, ...more }
    return engine.send(ann, { message })
  }

  const settled = (taskId: string): Promise<Task> =>
    engine.waitFor(
      ann,
      taskId,
      ({ state }) => isTerminal(state) || isInterrupted(state) || isPaused(state),
    )

  return {
    clock,
    settled,
    until: (taskId, state) => engine.waitFor(ann, taskId, (task) => task.state === state),
    async say(text) {
      const sent = await send(text)
      if (sent.kind !== 'message') throw new Error(`"${text}" became a task`)
      return sent.message
    },
    async ask(text, more) {
      const sent = await send(text, more)
      if (sent.kind !== 'task') throw new Error(`"${text}" became no task`)
      return settled(sent.task.id)
    },
    async emit(event) {
      await engine.emit(ann, [event])
    },
  }
}
