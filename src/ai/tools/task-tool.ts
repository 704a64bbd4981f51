/**
 * Tools that act on the task itself: park it, delegate, ask. Other tools run inside a step, where a
 * task cannot stop. These run directly in the task's code, so each `task.*` call they make is
 * journaled separately.
 */
import type { FlexibleSchema, ToolSet } from 'ai'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import type { AnyTool } from './results.ts'

const RUN: unique symbol = Symbol.for('lull.taskTool')

export interface TaskToolDefinition<I> {
  readonly description: string
  readonly inputSchema: FlexibleSchema<I>
  /**
   * Runs outside of any step, and may use every `task.*` call. It returns the result for the model.
   */
  readonly run: (task: AgentTask, input: I) => Promise<unknown>
  /**
   * Whether the tool runs after the other calls of its batch. Set it for tools that stop the task.
   */
  readonly last?: boolean
}

interface RunInTask {
  readonly run: (task: AgentTask, input: unknown) => Promise<unknown>
  readonly last: boolean
}

/** Defines a tool whose function gets the task, for `aiAgent` and `durableTools`. */
export function taskTool<I>(definition: TaskToolDefinition<I>): ToolSet[string] {
  const { description, inputSchema, run, last = false } = definition
  const made: AnyTool = { description, inputSchema }
  // The cast is safe, because the SDK has validated the input.
  const inTask: RunInTask = { run: (task, input) => run(task, input as I), last }
  return Object.assign(made, { [RUN]: inTask })
}

export function runInTask(tool: AnyTool | undefined): RunInTask | undefined {
  return tool !== undefined && RUN in tool ? (tool[RUN] as RunInTask) : undefined
}
