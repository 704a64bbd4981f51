/**
 * An engine for tests of agents: with a store in memory and a clock that only the test moves. A
 * test waits for conditions and never sleeps.
 */

import type { PartInput } from '../core/messages/message.ts'
import type { Decision, LogRecord } from '../core/records.ts'
import { isTerminal, type State } from '../core/states.ts'
import type { Task } from '../core/task.ts'
import { type Duration, durationMs } from '../core/values/duration.ts'
import type { Json, JsonInput } from '../core/values/json.ts'
import type { CloudEvent } from '../core/waiting/cloud-event.ts'
import type { Agent } from '../engine/author/agent.ts'
import type { Caller } from '../engine/caller.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/options.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { createMemoryStore } from '../stores/memory/memory-store.ts'
import { createCountingIds } from './counting-ids.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { clockUntilDeath, createLife, type Life, storeUntilDeath } from './process-life.ts'
import { replayTask } from './replay-task.ts'
import { testSigner } from './test-signer.ts'

export interface TestEngineOptions {
  /** The agents. The first one is the default. */
  readonly agents: readonly Agent[]
  readonly options?: EngineSettings
  /** The initial time in epoch milliseconds. Default: the beginning of 2026, UTC. */
  readonly startAt?: number
  /** Default: nothing is logged. */
  readonly log?: Log
}

/** An answer by the test: a text, data, parts, or a decision about a consent. */
export type TestAnswer =
  | string
  | { readonly data: JsonInput }
  | { readonly consent: Decision }
  | readonly PartInput[]

export interface TestEngine {
  /** The engine of the simulated process. `crash` replaces it. */
  readonly engine: Engine
  readonly clock: ManualClock
  readonly store: Store
  /** The caller of all requests of the test. */
  readonly caller: Caller
  /**
   * Starts a task.
   * @throws if the agent replies with a message instead
   */
  send(content: string | readonly PartInput[], options?: { readonly agent?: string }): Promise<Task>
  /**
   * Resolves with the task when it is in that state, or when the function returns true for it.
   * @throws if the task ends in another state
   */
  until(taskId: string, wanted: State | ((task: Task) => boolean)): Promise<Task>
  /** Answers the question of the task, or sends it a message. */
  answer(taskId: string, answer: TestAnswer): Promise<Task>
  emit(
    type: string,
    event?: { readonly subject?: string; readonly data?: JsonInput; readonly source?: string },
  ): Promise<void>
  /**
   * Moves the clock. Everything that becomes due happens at its time and in order, including its
   * consequences.
   */
  advance(duration: Duration): Promise<void>
  /** Resolves when nothing more happens without moving the clock. */
  settled(): Promise<void>
  /** Ends the simulated process as by `kill -9`, and starts another one on the same store. */
  crash(options?: { readonly agents?: readonly Agent[] }): Promise<void>
  /**
   * Runs the code of the task again over its log, up to its last stop or end, in a separate engine.
   * Recorded steps do not run.
   * @throws if the code reaches another state than the log, because it is not deterministic or was
   * changed
   */
  replay(taskId: string, options?: { readonly agents?: readonly Agent[] }): Promise<Task>
  records(taskId: string): Promise<readonly LogRecord[]>
  close(): Promise<void>
}

const caller: Caller = { tenant: 'default', principal: 'anonymous' }
const operator: Caller = { tenant: '*', principal: 'test', operator: true }

interface Living {
  readonly engine: Engine
  readonly life: Life
}

export async function testEngine(given: TestEngineOptions): Promise<TestEngine> {
  const clock = createManualClock(given.startAt)
  const ids = createCountingIds()
  const store = createMemoryStore()
  let agents = given.agents
  let count = 0

  async function live(): Promise<Living> {
    const life = createLife()
    const engine = createEngine({
      store: storeUntilDeath(store, life),
      agents,
      clock: clockUntilDeath(clock, life),
      ids,
      signer: testSigner,
      log: given.log ?? (() => undefined),
      memory: { usedBytes: () => 0 },
      // No time passes while code runs, so code never seems to block the event loop.
      options: { ...given.options, blockMs: Number.POSITIVE_INFINITY },
    })
    await engine.start()
    return { engine, life }
  }
  let now = await live()
  const settled = (): Promise<void> => now.life.settled()

  async function sent(
    message: { readonly taskId?: string; readonly parts: readonly PartInput[] },
    agent?: string,
  ): Promise<Task> {
    const result = await now.engine.send(caller, {
      ...(agent === undefined ? {} : { agent }),
      message: { messageId: `test-${++count}`, role: 'ROLE_USER', ...message },
    })
    if (result.kind === 'task') return result.task
    throw new Error('the agent answered with a message, and started no task')
  }

  return {
    get engine() {
      return now.engine
    },
    clock,
    store,
    caller,
    send: (content, options = {}) => sent({ parts: partsOf(content) }, options.agent),
    until: (taskId, wanted) => untilState(now.engine, taskId, wanted),
    async answer(taskId, answer) {
      const { question } = await now.engine.get(operator, taskId)
      return sent({ taskId, parts: answerParts(answer, question?.consent?.consentId) })
    },
    async emit(type, event = {}) {
      await now.engine.emit(caller, [eventOf(`event-${++count}`, type, event)])
    },
    advance: (duration) => advance(clock, settled, durationMs(duration, 'duration')),
    settled,
    async crash(options = {}) {
      now.life.end()
      agents = options.agents ?? agents
      now = await live()
      await settled()
    },
    replay: (taskId, options = {}) =>
      replayTask({ store, agents: options.agents ?? agents, now: clock.now() }, taskId),
    records: (taskId) => store.records(caller.tenant, taskId, 0, Number.MAX_SAFE_INTEGER),
    async close() {
      now.life.end()
      await store.close()
    },
  }
}

/** Moves the clock from timer to timer, and lets everything react after each one. */
async function advance(
  clock: ManualClock,
  settled: () => Promise<void>,
  ms: number,
): Promise<void> {
  let left = ms
  for (;;) {
    await settled()
    const next = clock.untilNext()
    if (next === undefined || next > left) break
    clock.advance(next)
    left -= next
  }
  clock.advance(left)
  await settled()
}

function eventOf(
  id: string,
  type: string,
  { subject, data, source = 'test' }: NonNullable<Parameters<TestEngine['emit']>[1]>,
): CloudEvent {
  return {
    id,
    source,
    type,
    ...(subject === undefined ? {} : { subject }),
    ...(data === undefined ? {} : { data: JSON.parse(JSON.stringify(data)) as Json }),
  }
}

async function untilState(
  engine: Engine,
  taskId: string,
  wanted: State | ((task: Task) => boolean),
): Promise<Task> {
  const isWanted = typeof wanted === 'function' ? wanted : ({ state }: Task) => state === wanted
  const task = await engine.waitFor(
    operator,
    taskId,
    (one) => isWanted(one) || isTerminal(one.state),
  )
  if (isWanted(task)) return task
  const why = task.failure?.stack ?? task.failure?.message ?? ''
  throw new Error(`task ${taskId} ended as ${task.state}. ${why}`)
}

function partsOf(content: string | readonly PartInput[]): readonly PartInput[] {
  return typeof content === 'string' ? [{ text: content }] : content
}

function answerParts(answer: TestAnswer, consentId: string | undefined): readonly PartInput[] {
  if (typeof answer === 'string') return [{ text: answer }]
  if ('consent' in answer)
    return [{ data: { consentId: consentId ?? '', decision: answer.consent } }]
  return 'data' in answer ? [{ data: answer.data }] : answer
}
