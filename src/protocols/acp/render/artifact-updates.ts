/**
 * Renders artifacts as messages of the agent, which every editor shows. An artifact named `plan`
 * becomes the agent's plan. The live text of a step is one message per attempt. ACP v1 cannot remove
 * a message, so after discarded text a sentence says that it was discarded. In ACP v2 the message is
 * emptied (`v2/shapes.ts`).
 */

import type { PlanEntry, SessionUpdate } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import {
  recordedChunk,
  type TextChunk,
  type TextPosition,
} from '../../../core/messages/live-text.ts'
import type { Artifact } from '../../../core/messages/message.ts'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { JsonObject } from '../../../core/values/json.ts'
import { blockOf } from './content.ts'

const plan = z.object({
  entries: z.array(
    z.object({
      content: z.string(),
      priority: z.enum(['high', 'medium', 'low']).default('medium'),
      status: z.enum(['pending', 'in_progress', 'completed']).default('pending'),
    }),
  ),
})

export function artifactUpdates(
  task: Task,
  { artifact, append, last, attempt }: LogRecord & { readonly type: 'artifact' },
): readonly SessionUpdate[] {
  const entries = planIn(artifact)
  if (entries !== undefined) return [{ sessionUpdate: 'plan', entries: [...entries] }]
  const { artifactId, name, description, parts } = artifact
  const facts = {
    taskId: task.id,
    artifactId,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    append,
    last,
    ...(attempt === undefined ? {} : { stream: 'recorded' }),
  }
  return parts.map((part, index) => ({
    sessionUpdate: 'agent_message_chunk',
    content: blockOf(part, `lull:/tasks/${task.id}/artifacts/${artifactId}/${index}`),
    // Each attempt has its own message id, so that no client joins the texts of two attempts.
    messageId: attempt ?? artifactId,
    _meta: { lull: { artifact: facts } },
  }))
}

export function textChunk(messageId: string, text: string, artifact: JsonObject): SessionUpdate {
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text },
    messageId,
    _meta: { lull: { artifact } },
  }
}

function planIn({ name, parts }: Artifact): readonly PlanEntry[] | undefined {
  const [part, ...more] = parts
  if (name !== 'plan' || more.length > 0 || part === undefined || !('data' in part)) {
    return undefined
  }
  const found = plan.safeParse(part.data)
  return found.success ? found.data.entries : undefined
}

const DISCARDED = '\n\n[Discarded: the attempt that wrote this did not finish.]\n\n'

/** @param held the unrecorded text that the editor had before the chunk */
export function chunkUpdates(
  taskId: string,
  held: readonly TextPosition[],
  chunk: TextChunk,
): readonly SessionUpdate[] {
  if (chunk.state === 'discarded') return [discarded(taskId, chunk.artifact.artifactId, chunk)]
  return [...replaced(taskId, held, chunk), chunkOf(taskId, chunk)]
}

/** The record without the part of its text that the client already has. */
export function shownRecord(held: readonly TextPosition[], record: LogRecord): LogRecord {
  if (held.length === 0 || record.type !== 'artifact') return record
  const chunk = recordedChunk(held, record)
  return chunk?.append ? { ...record, artifact: chunk.artifact, append: true } : record
}

/** Updates for text of other attempts, which this record discards. */
export function recordUpdates(
  taskId: string,
  held: readonly TextPosition[],
  record: LogRecord,
): readonly SessionUpdate[] {
  const chunk = held.length === 0 ? undefined : recordedChunk(held, record)
  return chunk === undefined ? [] : replaced(taskId, held, chunk)
}

/**
 * Updates for text of an earlier attempt that a new one replaces. A slow client can get text of the
 * next attempt before the end of the last one.
 */
function replaced(
  taskId: string,
  held: readonly TextPosition[],
  { artifact: { artifactId }, attempt }: TextChunk,
): readonly SessionUpdate[] {
  return held
    .filter((one) => one.artifactId === artifactId && one.attempt !== attempt)
    .map((one) => discarded(taskId, artifactId, one))
}

function chunkOf(
  taskId: string,
  { artifact, attempt, append, last, state }: TextChunk,
): SessionUpdate {
  const { artifactId, name = '' } = artifact
  const text = artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
  return textChunk(attempt, text, { taskId, artifactId, name, append, last, stream: state })
}

function discarded(
  taskId: string,
  artifactId: string,
  { attempt }: { readonly attempt: string },
): SessionUpdate {
  const facts = { taskId, artifactId, append: false, last: true, stream: 'discarded' }
  return textChunk(attempt, DISCARDED, facts)
}
