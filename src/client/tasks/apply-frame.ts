/** Folds frames into a task, for readers that keep the task instead of reading it again. */
import type { Artifact, Part } from '../../core/message.ts'
import { extendedState, stateOf } from '../wire/extension-metadata.ts'
import type { ArtifactFrame, Task, TaskFrame } from './task-types.ts'

/** Undefined until the first snapshot arrives. */
export function applyFrame(task: Task | undefined, frame: TaskFrame): Task | undefined {
  if (frame.kind === 'task') return frame.task
  if (task === undefined || frame.kind === 'message' || frame.kind === 'reminder') return task
  if (frame.kind === 'artifact') {
    return { ...task, artifacts: withArtifact(task.artifacts, frame) }
  }
  const { suspension: _s, resumption: _r, consent: _c, ...rest } = task
  const metadata = { ...task.metadata, ...frame.metadata }
  const state = stateOf(frame.status.state, metadata)
  return { ...rest, state, status: frame.status, metadata, ...extendedState(state, metadata) }
}

function withArtifact(
  artifacts: readonly Artifact[],
  { artifact, append, stream }: ArtifactFrame,
): readonly Artifact[] {
  if (stream === 'discarded') {
    return artifacts.filter(({ artifactId }) => artifactId !== artifact.artifactId)
  }
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const known = artifacts[index]
  if (known === undefined) return [...artifacts, artifact]
  if (!append) return artifacts.with(index, artifact)
  const parts =
    stream === undefined ? [...known.parts, ...artifact.parts] : [oneText(known, artifact)]
  return artifacts.with(index, { ...known, ...artifact, parts })
}

/** The text of a step's stream is one part, as in the task when it is recorded. */
function oneText(...artifacts: readonly Artifact[]): Part {
  const texts = artifacts.flatMap(({ parts }) =>
    parts.map((part) => ('text' in part ? part.text : '')),
  )
  return { text: texts.join('') }
}
