/** Ends a task when the code of its run ends: completed, failed, rejected, or continued in a new run (`continueAs`). */

import { isLullError } from '../../core/errors.ts'
import type { Task } from '../../core/task.ts'
import { describeError } from '../../core/values/describe-error.ts'
import type { Json } from '../../core/values/json.ts'
import type { Agent } from '../author/agent.ts'
import type { AgentTask, ArtifactInput } from '../author/agent-task.ts'
import type { Past } from '../author/conversation.ts'
import { json } from '../input/inputs.ts'
import { parse } from '../input/parse.ts'
import type { Operations } from './operations.ts'
import { lastArtifact } from './outputs/artifacts.ts'
import { agentMessage, partsOf } from './outputs/parts.ts'
import type { RunCore } from './run-core.ts'
import { neverSettles, type RunAct } from './run-writer.ts'
import { endOpenOperations } from './steps/open-operations.ts'
import { TaskApi } from './turns/task-api.ts'

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
  const act = await outcomeOf(deps)
  try {
    await end(deps, await afterOpenOperations(deps, act))
  } catch (error) {
    await endFailed(deps, error)
  }
}

/** What the run does is recorded before the task ends. */
async function afterOpenOperations(
  { agent, operations }: RunEndingDeps,
  act: RunAct,
): Promise<RunAct> {
  const { core } = operations
  if (core.dead) return act
  const open = await endOpenOperations(operations)
  if (open === undefined || !agent.strict || act.type !== 'complete') return act
  return failed(notAwaited(open), core)
}

function notAwaited(open: string): Error {
  const error = new Error(`The code ended while operations were open that nobody awaited: ${open}`)
  error.name = 'NotAwaited'
  return error
}

async function outcomeOf(deps: RunEndingDeps): Promise<RunAct> {
  const { agent, past, operations } = deps
  try {
    const api = new TaskApi(operations, past, (state) => continueAs(deps, state))
    return completion(await agent.run?.(api), operations.core)
  } catch (error) {
    return failing(error, agent, operations.core)
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
      await end(deps, failed(error, core))
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
  if (open !== undefined && agent.strict) throw notAwaited(open)
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
function completion(value: Awaited<ReturnType<NonNullable<Agent['run']>>>, core: RunCore): RunAct {
  if (value === undefined || value === null) return { type: 'complete' }
  if (typeof value === 'string' || Array.isArray(value)) {
    const message = agentMessage(core, core.host.ids.uuid(), partsOf(value))
    return { type: 'complete', message }
  }
  const artifact = lastArtifact(core, value as ArtifactInput)
  return artifact === undefined ? { type: 'complete' } : { type: 'complete', artifact }
}

/** Callers see the message of the error. The stack is only in the log. */
function failing(error: unknown, agent: Agent, core: RunCore): RunAct {
  const { host } = core
  const end = failed(error, core)
  if (end.failure.name === 'Rejection' || isLullError(error, 'CONSENT_DENIED')) {
    return { type: 'reject', message: end.message }
  }
  if (!core.dead) {
    host.log('warn', 'an agent failed', { agent: agent.name, taskId: core.task.id, error })
  }
  return end
}

/** The act that fails a task, with whatever was thrown. */
function failed(error: unknown, core: RunCore): RunAct & { readonly type: 'fail' } {
  const failure = describeError(error)
  const message = agentMessage(core, core.host.ids.uuid(), [
    { text: failure.message || failure.name },
  ])
  return { type: 'fail', message, failure }
}
