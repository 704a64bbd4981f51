/** The task as it stands after a frame, for readers who keep it instead of asking again. */
import type { Artifact } from '../core/message.ts'
import { stateOf, stopFacts } from './facts.ts'
import type { ArtifactFrame, Task, TaskFrame } from './task.ts'

/** Undefined until the first snapshot came. */
export function applyFrame(task: Task | undefined, frame: TaskFrame): Task | undefined {
  if (frame.kind === 'task') return frame.task
  if (task === undefined || frame.kind === 'message' || frame.kind === 'reminder') return task
  if (frame.kind === 'artifact') {
    return { ...task, artifacts: withArtifact(task.artifacts, frame) }
  }
  const { suspension: _s, resumption: _r, consent: _c, ...rest } = task
  const metadata = { ...task.metadata, ...frame.metadata }
  const state = stateOf(frame.status.state, metadata)
  return { ...rest, state, status: frame.status, metadata, ...stopFacts(state, metadata) }
}

function withArtifact(
  artifacts: readonly Artifact[],
  { artifact, append }: ArtifactFrame,
): readonly Artifact[] {
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const known = artifacts[index]
  if (known === undefined) return [...artifacts, artifact]
  const parts = append ? [...known.parts, ...artifact.parts] : artifact.parts
  return artifacts.with(index, { ...known, ...artifact, parts })
}
