import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Artifact, Part } from '../../core/messages/message.ts'
import type { Input, Io } from '../command.ts'

/** Writes the contents of artifacts into the directory of `--save`, which is created if missing. */
export function saveArtifacts(artifacts: readonly Artifact[], input: Input, io: Io): void {
  const directory = input.text('save')
  if (directory === undefined) return
  mkdirSync(directory, { recursive: true })
  for (const artifact of artifacts) {
    for (const [index, part] of artifact.parts.entries()) {
      const bytes = bytesOf(part)
      if (bytes === undefined) continue
      const path = join(directory, nameFor(artifact, part, index))
      writeFileSync(path, bytes)
      io.warn(`wrote ${path}`)
    }
  }
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
