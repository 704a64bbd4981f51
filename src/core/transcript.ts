/** What an agent's loop said and heard. Kept in the log; reminders are never in it. */
import type { Json } from './json.ts'
import { type Artifact, type Message, textOf } from './message.ts'

export interface TranscriptEntry {
  readonly turn: number
  readonly role: 'user' | 'agent' | 'tool' | 'digest'
  readonly content: Json
}

const DIGEST_LIMIT = 2_000

/** The default digest for `continueTranscript: false`: first and last message and the artifact list, 2,000 characters. */
export function defaultDigest(
  messages: readonly Message[],
  artifacts: readonly Artifact[],
): string {
  const first = messages[0]
  const last = messages.length > 1 ? messages.at(-1) : undefined
  const lines = [
    first === undefined ? undefined : `Asked: ${textOf(first)}`,
    last === undefined ? undefined : `Last message: ${textOf(last)}`,
    artifacts.length === 0
      ? undefined
      : `Artifacts so far: ${artifacts.map((artifact) => artifact.name ?? artifact.artifactId).join(', ')}`,
  ].filter((line) => line !== undefined)
  return clip(lines, DIGEST_LIMIT)
}

/** Shares the limit between the lines, so that a long first message does not hide the last one. */
function clip(lines: readonly string[], limit: number): string {
  const whole = lines.join('\n')
  if (whole.length <= limit) return whole
  const share = Math.floor(limit / Math.max(1, lines.length)) - 1
  return lines
    .map((line) => (line.length <= share ? line : `${line.slice(0, share - 1)}…`))
    .join('\n')
}
