/** The `turn` object that agent code gets. */

import type { TranscriptEntry } from '../../../core/messages/transcript.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import { renderReminders } from '../../../core/reminders/render-reminders.ts'
import type { Turn } from '../../author/agent-task.ts'

export interface TurnParts
  extends Pick<Turn, 'number' | 'messages' | 'wake' | 'record' | 'tool' | 'tools'> {
  readonly reread: () => readonly Reminder[]
  readonly transcript: () => readonly TranscriptEntry[]
}

/** A class for its getters: `operations.ts` says why. */
export class TurnApi implements Turn {
  readonly #parts: TurnParts
  readonly number: Turn['number']
  readonly messages: Turn['messages']
  readonly wake: Turn['wake']
  readonly record: Turn['record']
  readonly tool: Turn['tool']
  readonly tools: Turn['tools']

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.number = parts.number
    this.messages = parts.messages
    this.wake = parts.wake
    this.record = parts.record
    this.tool = parts.tool
    this.tools = parts.tools
  }

  get reminders(): Turn['reminders'] {
    return this.#parts.reread()
  }
  get reminderBlock(): Turn['reminderBlock'] {
    return renderReminders(this.#parts.reread())
  }
  get transcript(): Turn['transcript'] {
    return this.#parts.transcript()
  }
}
