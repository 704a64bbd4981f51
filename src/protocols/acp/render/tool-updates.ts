/**
 * Steps, tools and children as tool calls. A step is recorded when it is finished, so it is shown then. Its result stays in
 * the journal.
 */
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'

type Of<T extends LogRecord['type']> = LogRecord & { readonly type: T }

export function stepUpdates(
  task: Task,
  record: Of<'step' | 'attempt' | 'skipped'>,
): readonly SessionUpdate[] {
  const toolCallId = `${task.id}/${task.journal.generation}/${record.key}`
  if (record.type === 'skipped') {
    const content = [words('Skipped')]
    return [toolCall(toolCallId, record.name, 'failed', content)]
  }
  const failure = record.failure === undefined ? [] : [words(record.failure.message)]
  if (record.type === 'attempt') {
    // The first record begins the tool call, later records update it.
    if (record.attempt === 1) {
      return [toolCall(toolCallId, nameIn(record.key), 'in_progress', failure)]
    }
    return [update(toolCallId, 'in_progress', failure)]
  }
  const status = record.failure === undefined ? 'completed' : 'failed'
  return record.attempt === 1
    ? [toolCall(toolCallId, record.name, status, failure)]
    : [update(toolCallId, status, failure)]
}

export function childUpdates(record: Of<'delegated' | 'child-ended'>): readonly SessionUpdate[] {
  if (record.type === 'delegated') {
    return [toolCall(record.childId, `Delegated to ${record.agent}`, 'in_progress', [])]
  }
  const { taskId, state } = record.result
  return [update(taskId, state === 'completed' ? 'completed' : 'failed', [words(state)])]
}

function toolCall(
  toolCallId: string,
  title: string,
  status: 'in_progress' | 'completed' | 'failed',
  content: readonly ToolCallContent[],
): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId,
    title,
    kind: 'other',
    status,
    ...(content.length === 0 ? {} : { content: [...content] }),
  }
}

function update(
  toolCallId: string,
  status: 'in_progress' | 'completed' | 'failed',
  content: readonly ToolCallContent[],
): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status,
    ...(content.length === 0 ? {} : { content: [...content] }),
  }
}

function words(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

/** Keys end in `step:<name>#<occurrence>`. */
function nameIn(key: string): string {
  return /.*(?:step|tool):(.*)#[^#]*$/s.exec(key)?.[1] ?? key
}
