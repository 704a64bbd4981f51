import type { EngineDeps } from '../../../engine/deps.ts'

/** What the adapter keeps and reads beyond tasks; the task store has it. */
export type AcpStore = Pick<
  EngineDeps['store'],
  | 'putSession'
  | 'replaceSession'
  | 'session'
  | 'sessions'
  | 'contextMessages'
  | 'list'
  | 'getValue'
  | 'replaceValue'
>

export type SessionRow = NonNullable<Awaited<ReturnType<AcpStore['session']>>>
