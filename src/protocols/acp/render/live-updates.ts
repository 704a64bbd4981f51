/**
 * Renders the live text of steps as messages of the agent, one message per attempt. ACP v1 cannot
 * remove a message, so after discarded text a sentence says that it was discarded. In ACP v2 the
 * message is emptied (`v2/shapes.ts`).
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import {
  recordedChunk,
  type TextChunk,
  type TextPosition,
} from '../../../core/messages/live-text.ts'
import type { LogRecord } from '../../../core/records.ts'
import { textChunk } from './artifact-updates.ts'

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
