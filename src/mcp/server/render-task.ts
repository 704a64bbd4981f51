/**
 * Converts a task to MCP: its status, its question and the answer to it, and the result of a tool. The two specifications
 * differ only in the names of two members.
 */

import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ConsentAnswer } from '../../client/tasks/message-content.ts'
import type { Consent, Task, TaskState } from '../../client/tasks/task-types.ts'
import { type Message, type Part, textOf } from '../../core/messages/message.ts'
import { filledIn, formOf, type QuestionForm } from '../../core/messages/question-form.ts'
import { questionIn } from '../../core/messages/question-part.ts'
import { withoutResult } from '../../core/messages/result-artifact.ts'
import type { Json } from '../../core/values/json.ts'

export type McpStatus = 'working' | 'input_required' | 'completed' | 'cancelled'

/**
 * The MCP status of each state. A failed task is `completed` with an error result, because MCP's
 * `failed` is for protocol errors.
 */
const statuses: Readonly<Record<TaskState, McpStatus>> = {
  submitted: 'working',
  working: 'working',
  'paused-by-client': 'working',
  'paused-by-agent': 'working',
  unknown: 'working',
  'input-required': 'input_required',
  'auth-required': 'input_required',
  'user-consent-required': 'input_required',
  completed: 'completed',
  failed: 'completed',
  rejected: 'completed',
  canceled: 'cancelled',
}

/** Whether the result of a call is an error for its client. */
const isFailure: Readonly<Record<TaskState, boolean>> = {
  submitted: false,
  working: false,
  'paused-by-client': false,
  'paused-by-agent': false,
  unknown: false,
  'input-required': false,
  'auth-required': false,
  'user-consent-required': false,
  completed: false,
  failed: true,
  rejected: true,
  canceled: false,
}

/**
 * @param canAsk whether the client shows questions to its user; if not, the question is returned as
 * the result, as without MCP tasks
 */
export function statusOf(task: Task, canAsk: boolean): McpStatus {
  const status = statuses[task.state]
  return status === 'input_required' && !canAsk ? 'completed' : status
}

export const isEnded = (task: Task): boolean =>
  statuses[task.state] === 'completed' || statuses[task.state] === 'cancelled'

export const POLL_MS = 500

/** The members that both specifications have. */
export interface McpTask {
  readonly taskId: string
  readonly status: McpStatus
  readonly statusMessage: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
}

export function describedTask(task: Task, canAsk: boolean): McpTask {
  const { id, status, suspension } = task
  const said = status.message === undefined ? '' : textOf(status.message)
  const statusMessage = said || suspension?.reason || task.state
  const createdAt = createdIn(id) ?? status.timestamp ?? new Date(0).toISOString()
  return {
    taskId: id,
    status: statusOf(task, canAsk),
    statusMessage,
    createdAt,
    lastUpdatedAt: status.timestamp ?? createdAt,
  }
}

/** The creation time in a task id: UUIDs of version 7 begin with the time in milliseconds. */
function createdIn(id: string): string | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7/i.exec(id) ?? []
  if (high === undefined || low === undefined) return undefined
  return new Date(Number.parseInt(high + low, 16)).toISOString()
}

/** The result that the call would have returned without MCP tasks. */
export function resultOf(task: Task): CallToolResult {
  const result = toolResult(summaryOf(task))
  return isFailure[task.state] ? { ...result, isError: true } : result
}

export interface Asked {
  /** Identifies the question among those of the task. */
  readonly key: string
  readonly form: QuestionForm
}

/** The question of a task. Undefined if it asks nothing. */
export function askedBy(task: Task): Asked | undefined {
  if (statuses[task.state] !== 'input_required') return undefined
  const { consent, status } = task
  if (consent !== undefined) return { key: consent.consentId, form: consentForm(consent) }
  const message = status.message ?? noMessage
  const facts = questionIn(message.parts) ?? {}
  return {
    key: status.message?.messageId ?? status.timestamp ?? task.state,
    form: formOf({ message, ...facts }),
  }
}

const noMessage: Message = { messageId: '', role: 'ROLE_AGENT', parts: [] }

function consentForm({ prompt = 'Allow this?', operation }: Consent): QuestionForm {
  const shown = operation === undefined ? '' : `\n${JSON.stringify(operation)}`
  const oneOf = [
    { const: 'granted', title: 'Allow' },
    { const: 'denied', title: 'Deny' },
  ]
  return {
    mode: 'form',
    message: prompt + shown,
    requestedSchema: {
      type: 'object',
      properties: { decision: { type: 'string', title: 'Decision', oneOf } },
      required: ['decision'],
    },
  }
}

/** @returns undefined if the user gave no answer: the task keeps waiting for one */
export function answerIn(
  task: Task,
  response: unknown,
): ConsentAnswer | readonly [Part] | undefined {
  const { consent, status } = task
  if (consent !== undefined) {
    const decision = decisionIn(response)
    return decision && { consent: decision, consentId: consent.consentId }
  }
  const part = filledIn(questionIn(status.message?.parts ?? []) ?? {}, response)
  return part && [part]
}

const reply = z.object({ action: z.string(), content: z.looseObject({}).optional() })

function decisionIn(response: unknown): 'granted' | 'denied' | undefined {
  const { action, content } = reply.parse(response)
  if (action === 'decline') return 'denied'
  if (action !== 'accept') return undefined
  return content?.['decision'] === 'granted' ? 'granted' : 'denied'
}

/**
 * Builds the result of a tool: a summary of a task, as text that every client shows to its model,
 * and as data.
 */
export function toolResult(result: Record<string, Json>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(result, null, 2) }],
    structuredContent: result,
  }
}

/** What a model needs to know about a task. */
export function summaryOf(task: Task): Record<string, Json> {
  const { id, contextId, state, status, consent, suspension } = task
  const artifacts = withoutResult(task.artifacts, status.message)
  const said = status.message === undefined ? '' : textOf(status.message)
  const summary = {
    taskId: id,
    contextId,
    state,
    ...(said === '' ? {} : { message: said }),
    ...(artifacts.length === 0
      ? {}
      : {
          artifacts: artifacts.map(({ name = '', parts }) => ({
            name,
            content: parts.map(contentOf),
          })),
        }),
    ...(consent === undefined ? {} : { consent }),
    ...(suspension === undefined ? {} : { suspension }),
  }
  return JSON.parse(JSON.stringify(summary)) as Record<string, Json>
}

function contentOf(part: Part): Json {
  if ('text' in part) return part.text
  if ('data' in part) return part.data
  return 'url' in part ? part.url : `(${part.mediaType ?? 'bytes'})`
}
