/** References to artifacts in the metadata of a part. */
import type { Part } from '../../../core/messages/message.ts'

export interface ArtifactReference {
  readonly artifactId: string
  /** Absent if any task of the conversation may have the artifact. */
  readonly taskId?: string
}

/**
 * Reads `{referenceArtifacts: [{artifactId, taskId}, …]}` or `{artifactId, taskId}`. Other metadata has no references.
 */
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
