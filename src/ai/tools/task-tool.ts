/**
 * Tools that act on the task itself: park it, delegate, ask. Other tools run inside a step, where a
 * task cannot stop. These run directly in the task's code, so each `task.*` call they make is
 * journaled separately.
 */

import { type FlexibleSchema, jsonSchema, type ToolSet } from 'ai'
import { textOf } from '../../core/messages/message.ts'
import type { ChildResult } from '../../core/records.ts'
import type { AgentTask, Park } from '../../engine/author/agent-task.ts'
import type { ReminderProvider } from '../../engine/author/providers/provider.ts'
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

export interface ParkInput {
  readonly reason: string
  readonly summary?: string
  readonly onEvent?: string
  readonly timeoutMinutes?: number
}

/** A tool for `tools: { await_resumption: parkTool }`. The result of the call is the wake. */
export const parkTool: ToolSet[string] = taskTool<ParkInput>({
  description:
    'Stops this task without losing its place. Call it when you wait for something outside: an event, a person, a time. The call returns when the task is resumed, and says why.',
  inputSchema: jsonSchema<ParkInput>({
    type: 'object',
    properties: {
      reason: { type: 'string', description: 'What the task waits for' },
      summary: { type: 'string', description: 'Where the work stands, for the people who wait' },
      onEvent: {
        type: 'string',
        description: 'The event that resumes the task, such as ci.build.completed:1234',
      },
      timeoutMinutes: { type: 'number', description: 'Resume after this time in any case' },
    },
    required: ['reason'],
    additionalProperties: false,
  }),
  last: true,
  async run(task, { reason, summary, onEvent, timeoutMinutes }) {
    const park: Park = {
      reason,
      ...(summary === undefined ? {} : { summary }),
      ...(onEvent === undefined ? {} : { onEvent }),
      ...(timeoutMinutes === undefined
        ? {}
        : { timeout: { durationMinutes: timeoutMinutes, onTimeout: 'resume_with_summary' } }),
    }
    const { cause, input, event } = await task.park(park)
    return { cause, input, ...(event === undefined ? {} : { event }) }
  },
})

export interface DelegateInput {
  readonly agent: string
  readonly message: string
}

/**
 * A tool with which the model gives work to other agents of the server. Several calls in one batch
 * run at the same time.
 * @param agents the purpose of each agent, by its name
 */
export function delegateTool(agents: Readonly<Record<string, string>>): ToolSet[string] {
  const list = Object.entries(agents).map(([name, purpose]) => `${name}: ${purpose}`)
  return taskTool<DelegateInput>({
    description: `Gives work to another agent and waits for its result. The agents:\n${list.join('\n')}`,
    inputSchema: jsonSchema<DelegateInput>({
      type: 'object',
      properties: {
        agent: { type: 'string', enum: Object.keys(agents) },
        message: { type: 'string', description: 'The work, with everything the agent must know' },
      },
      required: ['agent', 'message'],
      additionalProperties: false,
    }),
    async run(task, { agent, message }) {
      const child = await task.delegate(agent, message)
      return childOutput(await child.result())
    },
  })
}

function childOutput({ state, message, artifacts }: ChildResult): string {
  const texts = artifacts.flatMap(({ parts }) =>
    parts.flatMap((part) => ('text' in part ? [part.text] : [])),
  )
  const said = message === undefined ? '' : textOf(message)
  const text = [...texts, said].filter((one) => one !== '').join('\n\n')
  if (state !== 'completed') throw new Error(`the task is ${state}. ${text}`.trim())
  return text
}

export interface RemindInput {
  readonly body: string
  readonly turns?: number
}

const REMIND = 'remind_self'

/** A tool for `tools: { remind_self: remindTool }` of an `aiAgent`. */
export const remindTool: ToolSet[string] = taskTool<RemindInput>({
  description:
    'Keeps a short note in front of you for the next turns. It is no part of the conversation.',
  inputSchema: jsonSchema<RemindInput>({
    type: 'object',
    properties: {
      body: { type: 'string' },
      turns: { type: 'integer', minimum: 1, description: 'For how many turns. Default 3' },
    },
    required: ['body'],
    additionalProperties: false,
  }),
  async run(task, { body, turns = 3 }) {
    await task.step(REMIND, () => ({ body, turns }))
    return 'noted'
  },
})

/** Adds the reminder of `remindTool`, in the same commit as its step. */
export const remindSelf: ReminderProvider = (input) => {
  if (input.type !== 'step' || input.name !== REMIND) return undefined
  const { result } = input
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined
  const { body, turns } = { body: undefined, turns: undefined, ...result }
  if (typeof body !== 'string' || typeof turns !== 'number') return undefined
  return { body, ttlTurns: turns, source: REMIND, dedupeKey: `${REMIND}:${input.key}` }
}
