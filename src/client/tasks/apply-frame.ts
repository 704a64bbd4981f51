/** Applies the frames of a stream to a task, so that a program need not read the task again after each frame. */
import type { Artifact, Part } from '../../core/messages/message.ts'
import { readExtendedState, readState } from '../wire/extension-metadata.ts'
import type { ArtifactFrame, Task, TaskFrame } from './task-types.ts'

/** The task after the frame. Undefined until the first snapshot arrives. */
export function applyFrame(task: Task | undefined, frame: TaskFrame): Task | undefined {
  if (frame.kind === 'task') return frame.task
  if (task === undefined || frame.kind === 'message' || frame.kind === 'reminder') return task
  if (frame.kind === 'artifact') {
    return { ...task, artifacts: withArtifact(task.artifacts, frame) }
  }
  const { suspension: _s, resumption: _r, consent: _c, ...rest } = task
  const metadata = { ...task.metadata, ...frame.metadata }
  const state = readState(frame.status.state, metadata)
  return { ...rest, state, status: frame.status, metadata, ...readExtendedState(state, metadata) }
}

function withArtifact(
  artifacts: readonly Artifact[],
  { artifact, append, stream }: ArtifactFrame,
): readonly Artifact[] {
  if (stream === 'discarded') {
    return artifacts.filter(({ artifactId }) => artifactId !== artifact.artifactId)
  }
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const former = artifacts[index]
  if (former === undefined) return [...artifacts, artifact]
  if (!append) return artifacts.with(index, artifact)
  const parts =
    stream === undefined ? [...former.parts, ...artifact.parts] : [joinText(former, artifact)]
  return artifacts.with(index, { ...former, ...artifact, parts })
}

/** The live text of a step is one part, because its recorded artifact has one part too. */
function joinText(...artifacts: readonly Artifact[]): Part {
  const texts = artifacts.flatMap(({ parts }) =>
    parts.map((part) => ('text' in part ? part.text : '')),
  )
  return { text: texts.join('') }
}
