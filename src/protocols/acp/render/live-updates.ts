/**
 * The live text of steps as an editor sees it: what the agent says, one message per attempt. ACP v1 cannot take back what
 * was said, so text that is discarded is followed by a sentence that says so; v2 empties the message (`v2/shapes.ts`).
 */
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { recordedChunk, type TextChunk, type TextPosition } from '../../../core/live-text.ts'
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

/** A record as it is to be shown: where the editor has seen its text, only the rest of it. */
export function shownRecord(held: readonly TextPosition[], record: LogRecord): LogRecord {
  if (held.length === 0 || record.type !== 'artifact') return record
  const chunk = recordedChunk(held, record)
  return chunk?.append ? { ...record, artifact: chunk.artifact, append: true } : record
}

/** What a record discards of the text of other attempts. */
export function recordUpdates(
  taskId: string,
  held: readonly TextPosition[],
  record: LogRecord,
): readonly SessionUpdate[] {
  const chunk = held.length === 0 ? undefined : recordedChunk(held, record)
  return chunk === undefined ? [] : replaced(taskId, held, chunk)
}

/** A reader that was slow may see the next attempt without having been told that the last one is over. */
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
