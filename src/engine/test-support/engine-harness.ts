/**
 * An engine to be tested: on a store in memory or the one it is given, with a clock that stands still and ids that
 * count. A harness can lose its process (`crash`), and another one goes on with the same store. For tests only.
 */

import type { Message, Part } from '../../core/messages/message.ts'
import type { Signer } from '../../core/receipts/receipt.ts'
import type { LogRecord, RecordType } from '../../core/records.ts'
import { isTerminal, type State } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import type { Json } from '../../core/values/json.ts'
import type { CloudEvent } from '../../core/waiting/cloud-event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { LogLevel } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import type { Tracing } from '../../ports/tracing.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { keyIn } from '../../testing/key-in.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import {
  clockUntilDeath,
  createLife,
  type Life,
  storeUntilDeath,
} from '../../testing/process-life.ts'
import { testSigner } from '../../testing/test-signer.ts'
import { type Agent, type AgentDefinition, agent } from '../author/agent.ts'
import type { Caller } from '../caller.ts'
import { createEngine, type Engine } from '../engine.ts'
import type { SendRequest } from '../input/requests.ts'
import type { EngineSettings } from '../options.ts'
import { asTestsWant } from './delaying-store.ts'

export const alice: Caller = { tenant: 'acme', principal: 'alice' }
export const bob: Caller = { tenant: 'acme', principal: 'bob' }
export const mallory: Caller = { tenant: 'evil', principal: 'alice' }
export const olga: Caller = { tenant: 'acme', principal: 'olga', operator: true }

export interface HarnessOptions {
  readonly agents?: readonly Agent[]
  readonly options?: EngineSettings
  readonly store?: Store
  readonly clock?: ManualClock
  readonly ids?: IdSource
  readonly signer?: Signer
  readonly usedBytes?: () => number
  readonly tracing?: Tracing
}

export interface LogLine {
  readonly level: LogLevel
  readonly text: string
  readonly facts: Readonly<Record<string, unknown>> | undefined
}

export interface Harness {
  readonly engine: Engine
  /** As the engine sees it: cut off by `crash`. */
  readonly store: Store
  readonly clock: ManualClock
  readonly said: readonly LogLine[]
  /** What it was made of; another process of the same harness is made of the same. */
  readonly given: HarnessOptions
  /** The task a message started. */
  send(content: string | readonly Part[], request?: Partial<SendRequest>): Promise<Task>
  /** A message to a task that exists. */
  tell(taskId: string, content: string | readonly Part[], message?: Partial<Message>): Promise<Task>
  get(taskId: string): Promise<Task>
  /** The task once it is in that state, or as the test says. */
  until(taskId: string, wanted: State | ((task: Task) => boolean)): Promise<Task>
  /** The task once it has ended. */
  ended(taskId: string): Promise<Task>
  log(taskId: string): Promise<readonly LogRecord[]>
  types(taskId: string): Promise<readonly RecordType[]>
  emit(type: string, some?: Partial<CloudEvent>): Promise<void>
  /** Lets everything come to rest, moves the clock and lets everything react. */
  pass(ms: number): Promise<void>
  /** Nothing moves any more: no store call and no callback for a while. */
  settled(): Promise<void>
  readonly life: Life
  /** The process dies: nothing of its engine is written, read or called back any more. */
  crash(): void
  /** The process stops in order, and another one goes on. */
  restart(some?: HarnessOptions): Promise<Harness>
  /** The process dies, and another one goes on. */
  recover(some?: HarnessOptions): Promise<Harness>
}

export async function createHarness(given: HarnessOptions = {}): Promise<Harness> {
  const clock = given.clock ?? createManualClock()
  const ids = given.ids ?? createCountingIds()
  const shared = given.store ?? createMemoryStore()
  const life = createLife()
  // Twice: a call that is delayed when the process ends neither acts nor answers.
  const store = storeUntilDeath(asTestsWant(storeUntilDeath(shared, life)), life)
  const said: LogLine[] = []
  const engine = createEngine({
    store,
    agents: given.agents ?? [echo],
    clock: clockUntilDeath(clock, life) satisfies Clock,
    ids,
    signer: given.signer ?? testSigner,
    log: (level, text, facts) => {
      said.push({ level, text, facts })
    },
    memory: { usedBytes: given.usedBytes ?? (() => 0) },
    ...(given.options === undefined ? {} : { options: given.options }),
    ...(given.tracing === undefined ? {} : { tracing: given.tracing }),
  })
  await engine.start()

  const harness: Harness = {
    engine,
    store,
    clock,
    said,
    given: { ...given, clock, ids },
    async send(content, request = {}) {
      const sent = await engine.send(alice, { message: message(content), ...request })
      if (sent.kind !== 'task') throw new Error('the answer was a message, not a task')
      return sent.task
    },
    async tell(taskId, content, some = {}) {
      const sent = await engine.send(alice, { message: { ...message(content), taskId, ...some } })
      if (sent.kind !== 'task') throw new Error('the answer was a message, not a task')
      return sent.task
    },
    get: (taskId) => engine.get(olga, taskId),
    async until(taskId, wanted) {
      if (typeof wanted === 'function') return engine.waitFor(olga, taskId, wanted)
      const over = (task: Task): boolean => task.state === wanted || isTerminal(task.state)
      const task = await engine.waitFor(olga, taskId, over)
      if (task.state === wanted) return task
      const why = task.failure?.stack ?? ''
      throw new Error(`waited for ${wanted}, but task ${task.id} is ${task.state}. ${why}`)
    },
    ended: (taskId) => engine.waitFor(olga, taskId, (task) => isTerminal(task.state)),
    log: async (taskId) => shared.records(...(await keyIn(shared, taskId)), 0, 100_000),
    types: async (taskId) => (await harness.log(taskId)).map((record) => record.type),
    async emit(type, some = {}) {
      await engine.emit(alice, [{ id: `event-${eventCount++}`, source: 'test', type, ...some }])
    },
    async pass(ms) {
      await harness.settled()
      clock.advance(ms)
      await harness.settled()
    },
    settled: life.settled,
    life,
    crash: life.end,
    async restart(some = {}) {
      await engine.drain()
      life.end()
      return createHarness({ ...given, store: shared, clock, ids, ...some })
    },
    recover(some = {}) {
      life.end()
      return createHarness({ ...given, store: shared, clock, ids, ...some })
    },
  }
  return harness
}

let eventCount = 0
let messageCount = 0

/** The id is no UUID, so that sending it twice is two messages. */
export function message(content: string | readonly Part[], some: Partial<Message> = {}): Message {
  const parts = typeof content === 'string' ? [{ text: content }] : content
  return { messageId: `message-${messageCount++}`, role: 'ROLE_USER', parts, ...some }
}

/** An agent by its `run` alone. */
export function running(
  run: NonNullable<AgentDefinition['run']>,
  some: Partial<AgentDefinition> = {},
): Agent {
  return agent({ name: 'worker', description: 'does what the test says', run, ...some })
}

export const echo: Agent = running((task) => task.text, { name: 'echo' })

/** A promise the test settles. */
export interface Signal<T = void> {
  readonly promise: Promise<T>
  readonly fire: (value: T) => void
  readonly fail: (error: Error) => void
}

export function signal<T = void>(): Signal<T> {
  let fire: (value: T) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  const promise = new Promise<T>((resolve, reject) => {
    fire = resolve
    fail = reject
  })
  return { promise, fire, fail }
}

/** Side effects by name, in order. */
export interface Effects {
  readonly list: readonly string[]
  note(name: string): void
  count(name: string): number
}

export function effects(): Effects {
  const list: string[] = []
  return {
    list,
    note: (name) => {
      list.push(name)
    },
    count: (name) => list.filter((one) => one === name).length,
  }
}

/** Waits until the step's signal fires, as a well-behaved step does. */
export function aborted(abort: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(abort.reason as Error)
    if (abort.aborted) stop()
    else abort.addEventListener('abort', stop)
  })
}

/** The data of the task's only artifact of that name. */
export function dataOf(task: Task, name: string): Json | undefined {
  const part = task.artifacts.find((one) => one.name === name)?.parts[0]
  return part !== undefined && 'data' in part ? part.data : undefined
}
