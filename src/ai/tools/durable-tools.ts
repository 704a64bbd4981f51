/**
 * `durableTools`: tools of the AI SDK whose every call is a journaled step, for loops that authors write themselves.
 *
 * Invariants (durable-tools.test.ts):
 *  D1  a call that has a recorded result is not executed again;
 *  D2  the key of a call consists of the tool's name and the number of the call, not of the id that
 *      the model gave it, because models repeat ids;
 *  D3  calls start in the order in which the model made them, one at a time unless `concurrency` says otherwise;
 *  D4  a denied call is not executed, and its result tells the model that it was denied.
 */

import type { ToolSet } from 'ai'
import type { Json } from '../../core/values/json.ts'
import type { AgentTask, Retry } from '../../engine/author/agent-task.ts'
import { callsToApprove, isApproved } from './approval.ts'
import { executeCall, resultOrQuestion, type UserAnswer, withAnswers } from './execute-call.ts'
import {
  type AnyTool,
  DENIED,
  DENIED_REASON,
  type ExecutionOptions,
  interruptedError,
  outputOf,
  ownNames,
  type ToolCall,
  toPlainJson,
} from './results.ts'
import { runInTask } from './task-tool.ts'

/** What to do with a call that a crash or an interrupting pause may have left half executed. */
export type OnInterrupted = 'rerun' | 'report'

export interface DurableToolsOptions {
  /**
   * The most calls that are executed at the same time. Default 1, so that a task can be paused
   * between two calls.
   */
  readonly concurrency?: number
  /** How a failed call is retried. Default: not at all; the model gets the error. */
  readonly retry?: Retry
  /**
   * `rerun` (default) executes the call again with the same idempotency key. `report` tells the
   * model that it was interrupted.
   */
  readonly onInterrupted?: OnInterrupted
}

interface ToolCallOutput {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

const denied = { 'lull:denied': DENIED_REASON }

export function durableTools<T extends ToolSet>(
  task: AgentTask,
  tools: T,
  options: DurableToolsOptions = {},
): T {
  const { concurrency = 1 } = options
  const inTurn = createQueue(concurrency)
  const durable = Object.entries(tools).map(([name, tool]) => [
    name,
    isExecutable(tool) ? wrap(name, tool) : tool,
  ])
  return ownNames(Object.fromEntries(durable) as T)

  function wrap(toolName: string, tool: AnyTool): AnyTool {
    const durable = { ...tool }
    delete durable.needsApproval
    durable.execute = (input: unknown, given: ExecutionOptions) => {
      const call = { toolName, toolCallId: given.toolCallId, input }
      return inTurn(() => execute(tool, call, given))
    }
    durable.toModelOutput = async ({ output, ...call }: ToolCallOutput) =>
      isDenied(output) ? DENIED : outputOf(tool, { toolName, ...call }, output)
    return durable
  }

  async function execute(tool: AnyTool, call: ToolCall, given: ExecutionOptions): Promise<unknown> {
    const { messages } = given
    const [asked] = await callsToApprove(task, [{ call, tool }], messages)
    if (asked !== undefined && !(await isApproved(task, call))) return denied
    const inTask = runInTask(tool)
    if (inTask !== undefined) return inTask.run(task, call.input)
    const { retry, onInterrupted } = options
    const inStep = (answers: readonly UserAnswer[]): Promise<Json> =>
      task.step(
        call.toolName,
        async (step) => {
          if (step.mayHaveRun && onInterrupted === 'report') throw interruptedError()
          const context = { task, step, answers, messages, given }
          return toPlainJson(await resultOrQuestion(() => executeCall(tool, call, context)))
        },
        retry === undefined ? {} : { retry },
      )
    return withAnswers(task, await inStep([]), inStep)
  }
}

const isExecutable = (tool: AnyTool): boolean =>
  tool.execute !== undefined || runInTask(tool) !== undefined

function isDenied(output: unknown): boolean {
  return typeof output === 'object' && output !== null && 'lull:denied' in output
}

/** Starts work in the order of the calls, at most `concurrency` at the same time. */
type Queue = <T>(work: () => Promise<T>) => Promise<T>

function createQueue(concurrency: number): Queue {
  const waiting: (() => void)[] = []
  let running = 0

  const next = (): void => {
    if (running >= concurrency) return
    const start = waiting.shift()
    if (start === undefined) return
    running++
    start()
  }

  return async (work) => {
    const turn = new Promise<void>((start) => {
      waiting.push(start)
    })
    next()
    await turn
    try {
      return await work()
    } finally {
      running--
      next()
    }
  }
}
