/**
 * Stops that the agent's code asks for: parks and questions. No other operation of the run starts meanwhile (gate, G3).
 */
import type { Message } from '../../../core/messages/message.ts'
import type { Decision } from '../../../core/records.ts'
import type { Wake } from '../../../core/suspension.ts'
import type { RunCore } from '../run-core.ts'
import type { RunAct } from '../run-writer.ts'
import { createParks, type Parks } from './parks.ts'
import { createQuestions, type Questions } from './questions.ts'

export interface Stops extends Pick<Parks, 'park' | 'sleep'>, Pick<Questions, 'ask' | 'consent'> {
  /** The question of that key is recorded. */
  asked(key: string): void
  /** The park of that key has ended. */
  woken(key: string, wake: Wake, seq: number): void
  answered(message: Message, decision: Decision | undefined, seq: number): void
}

/** Writes the command of a stop. Resolves when the stop is recorded. */
export type Stop = (act: () => Promise<RunAct>) => Promise<void>

export function createStops(core: RunCore): Stops {
  /**
   * Tries until the stop is recorded. While a pause is under way, the stop waits for the resume. While the stop is written,
   * no result is handed out: what the code would read after it could not be written any more.
   */
  const stop: Stop = async (act) => {
    await core.flush()
    for (;;) {
      const { records } = await core.gate.duringStop(async () => {
        const made = await act()
        return core.releaser.without(() => core.persist(made))
      })
      if (records.length > 0) return
    }
  }
  return { ...createParks(core, stop), ...createQuestions(core, stop) }
}
