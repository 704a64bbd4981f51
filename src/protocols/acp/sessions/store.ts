import type { EngineDeps } from '../../../engine/deps.ts'

/** The methods of the engine's store that the adapter uses. */
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
