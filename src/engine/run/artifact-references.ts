/** Artifacts that the metadata of a part refers to. */
import type { Part } from '../../core/message.ts'

export interface ArtifactReference {
  readonly artifactId: string
  /** Absent: any task of the conversation. */
  readonly taskId?: string
}

/** `{referenceArtifacts: [{artifactId, taskId}, …]}`, or `{artifactId, taskId}` itself; what is neither refers to nothing. */
export function artifactReferences({ metadata }: Part): readonly ArtifactReference[] {
  if (metadata === undefined) return []
  const { referenceArtifacts: list } = metadata
  const given: readonly unknown[] = Array.isArray(list) ? list : [metadata]
  return given.flatMap((one) => (isReference(one) ? [one] : []))
}

function isReference(value: unknown): value is ArtifactReference {
  if (typeof value !== 'object' || value === null) return false
  const { artifactId, taskId } = value as { artifactId?: unknown; taskId?: unknown }
  return typeof artifactId === 'string' && (taskId === undefined || typeof taskId === 'string')
}
