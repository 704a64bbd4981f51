import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Artifact, Part } from '../../core/messages/message.ts'

/** Writes the contents of artifacts into a directory, which is created if missing. @returns the paths written */
export function saveArtifacts(
  artifacts: readonly Artifact[],
  directory: string,
): readonly string[] {
  mkdirSync(directory, { recursive: true })
  return artifacts.flatMap((artifact) =>
    artifact.parts.flatMap((part, index) => {
      const bytes = bytesOf(part)
      if (bytes === undefined) return []
      const path = join(directory, nameFor(artifact, part, index))
      writeFileSync(path, bytes)
      return [path]
    }),
  )
}

function bytesOf(part: Part): Buffer | undefined {
  if ('raw' in part) return Buffer.from(part.raw, 'base64')
  if ('text' in part) return Buffer.from(part.text)
  return 'data' in part ? Buffer.from(`${JSON.stringify(part.data, null, 2)}\n`) : undefined
}

/** Only the last segment of the name is used: the agent chose it, and it must not point outside the directory. */
function nameFor({ name, artifactId, parts }: Artifact, part: Part, index: number): string {
  const wanted = basename((part.filename ?? name ?? artifactId).replaceAll('\\', '/'))
  const safe = /^\.*$/.test(wanted)
    ? artifactId.replace(/[^\w-]/g, '_')
    : wanted.replaceAll('\0', '')
  return parts.length === 1 ? safe : `${index + 1}-${safe}`
}
