/**
 * The live text of steps as messages of the agent, one message per attempt. ACP v1 cannot remove a message, so a sentence
 * after discarded text says that it was discarded. ACP v2 empties the message (`v2/shapes.ts`).
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

/** @param held what the editor was shown of unrecorded text before the chunk */
export function chunkUpdates(
  taskId: string,
  held: readonly TextPosition[],
  chunk: TextChunk,
): readonly SessionUpdate[] {
  if (chunk.state === 'discarded') return [discarded(taskId, chunk.artifact.artifactId, chunk)]
  return [...replaced(taskId, held, chunk), chunkOf(taskId, chunk)]
}

/** The record without the text that the client has seen. */
export function shownRecord(held: readonly TextPosition[], record: LogRecord): LogRecord {
  if (held.length === 0 || record.type !== 'artifact') return record
  const chunk = recordedChunk(held, record)
  return chunk?.append ? { ...record, artifact: chunk.artifact, append: true } : record
}

/** Updates for text of other attempts that the record discards. */
export function recordUpdates(
  taskId: string,
  held: readonly TextPosition[],
  record: LogRecord,
): readonly SessionUpdate[] {
  const chunk = held.length === 0 ? undefined : recordedChunk(held, record)
  return chunk === undefined ? [] : replaced(taskId, held, chunk)
}

/** A slow client can get text of the next attempt before it was told that the last attempt ended. */
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
