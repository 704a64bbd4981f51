/** What an agent's loop said and heard. Kept in the log; reminders are never in it. */
import type { Json } from './json.ts'

export interface TranscriptEntry {
  readonly turn: number
  readonly role: 'user' | 'agent' | 'tool' | 'digest'
  readonly content: Json
}
