/** Where a run stops by itself: parks and questions. Nothing else of the run moves until the stop is over (gate, G3). */
import type { Message } from '../../core/message.ts'
import type { Decision } from '../../core/records.ts'
import type { Wake } from '../../core/suspension.ts'
import type { RunCore } from './core.ts'
import { createParks, type Parks } from './parks.ts'
import { createQuestions, type Questions } from './questions.ts'
import type { RunAct } from './run-writer.ts'

export interface Stops extends Pick<Parks, 'park' | 'sleep'>, Pick<Questions, 'ask' | 'consent'> {
  /** A question of this run took effect. */
  asked(key: string): void
  /** The park of that key is over. */
  woken(key: string, wake: Wake, seq: number): void
  answered(message: Message, decision: Decision | undefined, seq: number): void
}

/** Writes the command of a stop, and resolves when the stop took effect. */
export type Stop = (act: () => Promise<RunAct>) => Promise<void>

export function createStops(core: RunCore): Stops {
  /** Tries until the stop took effect: a stop that meets a pause under way waits for the resume. */
  const stop: Stop = async (act) => {
    await core.flush()
    for (;;) {
      const { records } = await core.gate.duringStop(async () => core.persist(await act()))
      if (records.length > 0) return
    }
  }
  return { ...createParks(core, stop), ...createQuestions(core, stop) }
}
