/** An entry of the transcript of an agent's loop. Reminders are never in the transcript. */
import type { Json } from '../values/json.ts'

export interface TranscriptEntry {
  readonly turn: number
  readonly role: 'user' | 'agent' | 'tool' | 'digest'
  readonly content: Json
}
