import type { AgentTask, ArtifactInput } from '../../engine/author/agent-task.ts'
import type { ArtifactOp } from './ops.ts'
import { splitEvenly } from './split-evenly.ts'

/** Creates the artifact as a whole, or in pieces of which all but the first are appended. */
export async function performArtifact(task: AgentTask, op: ArtifactOp): Promise<void> {
  const { chunks = 1, ...given } = op
  const pieces = chunks === 1 ? [input(given)] : pieceTexts(given, chunks).map(input)
  let artifactId: string | undefined
  for (const [index, piece] of pieces.entries()) {
    const known = artifactId === undefined ? {} : { artifactId }
    const last = index === pieces.length - 1
    const made = await task.artifact({ ...piece, ...known }, { append: index > 0, last })
    artifactId = made.artifactId
  }
}

function input({ name, text, data, base64, url, mediaType }: ArtifactOp): ArtifactInput {
  const type = mediaType === undefined ? {} : { mediaType }
  if (url !== undefined) return { name, parts: [{ url, filename: name, ...type }] }
  return {
    name,
    ...type,
    ...(text === undefined ? {} : { text }),
    ...(data === undefined ? {} : { data }),
    ...(base64 === undefined ? {} : { base64 }),
  }
}

/** Splits into exactly `chunks` pieces of nearly equal size. Characters and base64 quantums are not split. */
function pieceTexts(op: ArtifactOp, chunks: number): readonly ArtifactOp[] {
  const { text, base64, ...rest } = op
  if (text !== undefined)
    return splitEvenly([...text], chunks).map((piece) => ({ ...rest, text: piece }))
  const quantums = base64?.match(/.{1,4}/g) ?? []
  return splitEvenly(quantums, chunks).map((piece) => ({ ...rest, base64: piece }))
}
