/**
 * Renders steps, tools and children as tool calls. A step is recorded when it has finished, so it
 * is shown only then. Its result stays in the journal.
 */
import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk'
import { type AnnouncedCall, isAnnounced } from '../../../core/messages/tool-calls.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'

type Of<T extends LogRecord['type']> = LogRecord & { readonly type: T }

export function stepUpdates(
  task: Task,
  record: Of<'step' | 'attempt' | 'skipped'>,
): readonly SessionUpdate[] {
  const toolCallId = stepId(task, record.key)
  if (record.type === 'skipped') {
    const content = [words('Skipped')]
    return isAnnounced(record.key)
      ? [update(toolCallId, 'failed', content)]
      : [toolCall(toolCallId, record.name, 'failed', content)]
  }
  const isNew = record.attempt === 1 && !isAnnounced(record.key)
  const failure = record.failure === undefined ? [] : [words(record.failure.message)]
  if (record.type === 'attempt') {
    // The first record creates the tool call; later ones update it.
    if (isNew) {
      return [toolCall(toolCallId, nameIn(record.key), 'in_progress', failure)]
    }
    return [update(toolCallId, 'in_progress', failure)]
  }
  const status = record.failure === undefined ? 'completed' : 'failed'
  return isNew
    ? [toolCall(toolCallId, record.name, status, failure)]
    : [update(toolCallId, status, failure)]
}

/** Tool calls that were announced before they run. The first one is running now. */
export function announcedUpdates(
  task: Task,
  calls: readonly AnnouncedCall[],
): readonly SessionUpdate[] {
  return calls.map(({ key, name, input }, index) => ({
    ...toolCall(stepId(task, key), name, index === 0 ? 'in_progress' : 'pending', []),
    rawInput: input,
  }))
}

/** The id of the tool call that shows a step. */
const stepId = (task: Task, key: string): string => `${task.id}/${task.journal.generation}/${key}`

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
  status: 'pending' | 'in_progress' | 'completed' | 'failed',
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

/** The name in a key, which ends in `step:<name>#<occurrence>`. */
function nameIn(key: string): string {
  return /.*(?:step|tool):(.*)#[^#]*$/s.exec(key)?.[1] ?? key
}
