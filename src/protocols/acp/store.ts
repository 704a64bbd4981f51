import type { EngineDeps } from '../../engine/deps.ts'

/** What the adapter keeps beyond tasks; the task store has it. */
export type AcpStore = Pick<EngineDeps['store'], 'getFact' | 'setFact' | 'contextMessages'>
