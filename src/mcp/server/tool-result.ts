/**
 * Builds the result of a tool: a summary of a task, as text that every client shows to its model,
 * and as data.
 */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Task } from '../../client/tasks/task-types.ts'
import { type Part, textOf } from '../../core/messages/message.ts'
import type { Json } from '../../core/values/json.ts'

export function toolResult(result: Record<string, Json>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(result, null, 2) }],
    structuredContent: result,
  }
}

/** What a model needs to know about a task. */
export function summaryOf(task: Task): Record<string, Json> {
  const { id, contextId, state, status, artifacts, consent, suspension } = task
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
