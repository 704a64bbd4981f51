/**
 * Ends a task when the code of its run ends: completed, failed, rejected, or continued in a new run (`continueAs`). Some
 * operations may still be open then, because nobody awaited them:
 *
 * O1  Their effects are recorded: the run waits for them, and for what code calls when it gets their results. It waits for
 *     `abandonAfterMs` at most, and then abandons the functions that are in flight.
 * O2  The log, the timeline and a log line name them. An operation without an effect outside of the task is not named.
 * O3  A stop, or a wait for a child, is named and not waited for: it could take days. A stop that has not begun does not begin.
 */

import { isLullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Json } from '../../core/values/json.ts'
import type { Agent } from '../author/agent.ts'
import type { AgentTask, ArtifactInput } from '../author/agent-task.ts'
import type { Past } from '../author/conversation.ts'
import { json } from '../input/inputs.ts'
import { parse } from '../input/parse.ts'
import type { Operation } from './operation-runner.ts'
import { makeAgentMessage, makeLastArtifact, readParts } from './operations/outputs.ts'
import { type Operations, TaskApi } from './operations/task-api.ts'
import { describeKeys } from './replay/keys.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles, type RunAct } from './run-writer.ts'

export interface RunEndingDeps {
  readonly operations: Operations
  readonly agent: Agent
  readonly past: Past
  /** The command that ends the task is about to be written. */
  ending(): void
  /** The run is over. */
  die(): void
  /** The task goes on in a new run. */
  again(task: Task): void
}

const RETRY_MS = 1_000

/** Runs the agent's code and ends the task with its result. Never rejects. */
export async function runToEnd(deps: RunEndingDeps): Promise<void> {
  const act = await runCode(deps)
  try {
    await end(deps, await endOpenFirst(deps, act))
  } catch (error) {
    await endFailed(deps, error)
  }
}

/** What the run does is recorded before the task ends. */
async function endOpenFirst({ agent, operations }: RunEndingDeps, act: RunAct): Promise<RunAct> {
  const { core } = operations
  if (core.dead) return act
  const open = await endOpenOperations(operations)
  if (open === undefined || !agent.strict || act.type !== 'complete') return act
  return failWith(createNotAwaitedError(open), core)
}

function createNotAwaitedError(open: string): Error {
  const error = new Error(`The code ended while operations were open that nobody awaited: ${open}`)
  error.name = 'NotAwaited'
  return error
}

async function runCode(deps: RunEndingDeps): Promise<RunAct> {
  const { agent, past, operations } = deps
  try {
    const api = new TaskApi(operations, past, (state) => continueAs(deps, state))
    return completeWith(await agent.run?.(api), operations.core)
  } catch (error) {
    return rejectOrFail(error, agent, operations.core)
  }
}

/** Writes the command that ends the task. Waits while the store is down. */
async function end({ operations, ending, die }: RunEndingDeps, act: RunAct): Promise<void> {
  const { core } = operations
  if (core.dead) return
  await operations.childrenExist()
  await core.gate.duringLast(async () => {
    ending()
    await core.persist(act)
    die()
  })
}

/** The command that should end the task was refused. The task fails with that error, so that it ends. */
async function endFailed(deps: RunEndingDeps, error: unknown): Promise<void> {
  const { core } = deps.operations
  const { host, taskId } = core
  host.log('error', 'a task could not end as its agent wanted; it fails', { taskId, error })
  for (;;) {
    try {
      await end(deps, failWith(error, core))
      return
    } catch (again) {
      host.log('error', 'a task could not be ended; trying again', { taskId, error: again })
      await new Promise<void>((resolve) => host.clock.after(RETRY_MS, resolve))
    }
  }
}

async function continueAs(
  { agent, operations, die, again }: RunEndingDeps,
  state: Parameters<AgentTask['continueAs']>[0],
): Promise<never> {
  const { core } = operations
  core.notInside('task.continueAs', 'step')
  const kept: Json = parse(json, state, 'state')
  const open = await endOpenOperations(operations)
  if (open !== undefined && agent.strict) throw createNotAwaitedError(open)
  await operations.turns.endOpen()
  const key = core.key('continue')
  await operations.childrenExist()
  await core.gate.duringLast(async () => {
    const transcript = operations.turns.transcript()
    await core.persist({ type: 'continue-as', key, state: kept, transcript })
    die()
  })
  again(core.task)
  return neverSettles()
}

/** The command that ends a task for what the code of the agent returned. */
function completeWith(
  value: Awaited<ReturnType<NonNullable<Agent['run']>>>,
  core: RunCore,
): RunAct {
  if (value === undefined || value === null) return { type: 'complete' }
  if (typeof value === 'string' || Array.isArray(value)) {
    const message = makeAgentMessage(core, core.host.ids.uuid(), readParts(value))
    return { type: 'complete', message }
  }
  const artifact = makeLastArtifact(core, value as ArtifactInput)
  return artifact === undefined ? { type: 'complete' } : { type: 'complete', artifact }
}

/** Callers see the message of the error. The stack is only in the log. */
function rejectOrFail(error: unknown, agent: Agent, core: RunCore): RunAct {
  const { host } = core
  const end = failWith(error, core)
  if (end.failure.name === 'Rejection' || isLullError(error, 'CONSENT_DENIED')) {
    return { type: 'reject', message: end.message }
  }
  if (!core.dead) {
    host.log('warn', 'an agent failed', { agent: agent.name, taskId: core.task.id, error })
  }
  return end
}

/** The act that fails a task, with whatever was thrown. */
function failWith(error: unknown, core: RunCore): RunAct & { readonly type: 'fail' } {
  const failure = describeError(error)
  const message = makeAgentMessage(core, core.host.ids.uuid(), [
    { text: failure.message || failure.name },
  ])
  return { type: 'fail', message, failure }
}

/** The most open operations that are named. More of them are only counted. */
const MOST_NAMED = 64

/** @returns names the operations that nobody awaited. Undefined if there were none */
async function endOpenOperations(operations: Operations): Promise<string | undefined> {
  const { core } = operations
  let named: string | undefined
  if (core.open.size > 0) {
    named = await core.gate.withoutStops(async () => {
      const names = await nameOpen(core)
      await waitForOpen(operations)
      return names
    })
  }
  await operations.abandonAll()
  return named
}

async function nameOpen(core: RunCore): Promise<string | undefined> {
  const keys = [...core.open.keys()].filter(isNamed).map(({ key }) => key)
  if (keys.length === 0) return undefined
  const first = keys.slice(0, MOST_NAMED)
  const names = describeKeys(first, keys.length)
  const { host, taskId } = core
  const text = 'the code of a task ended while operations were open that nobody awaited'
  host.log('warn', text, { agent: core.task.agent, taskId, operations: names })
  for (const [operation, result] of core.open) {
    if (isNamed(operation)) result.catch((error: unknown) => logFailure(core, operation, error))
  }
  const key = core.key('not-awaited')
  // A run before this one has written it.
  if (core.journal.get(key) !== undefined) return names
  await core.gate.duringLast(() =>
    core.record({ type: 'not-awaited', key, operations: first, count: keys.length }),
  )
  return names
}

/** An operation inside a step belongs to that step. */
function isNamed({ key, isTaskOnly, waits }: Operation<unknown>): boolean {
  return !key.includes('/') && (isTaskOnly === undefined || waits === true)
}

function logFailure({ host, taskId }: RunCore, { key }: Operation<unknown>, error: unknown): void {
  host.log('warn', 'an operation that nobody awaited failed', { taskId, operation: key, error })
}

async function waitForOpen(operations: Operations): Promise<void> {
  const { core } = operations
  let limit = createLimit(operations)
  for (;;) {
    const open = [...core.open].flatMap(([{ waits }, result]) => (waits ? [] : [result]))
    if (open.length === 0) break
    if (await Promise.race([Promise.allSettled(open).then(() => false), limit.reached])) {
      const { state } = core.task
      // The time that the task is stopped does not count.
      await core.gate.duringLast(() => undefined)
      if (core.dead || state === 'working') break
      limit = createLimit(operations)
    }
  }
  limit.cancel()
}

function createLimit(operations: Operations): {
  readonly reached: Promise<boolean>
  cancel(): void
} {
  const { core } = operations
  let cancel = (): void => undefined
  const reached = new Promise<boolean>((resolve) => {
    cancel = core.host.clock.after(operations.abandonAfterMs(), () => resolve(true))
  })
  return { reached, cancel: () => cancel() }
}
