import type { State } from '../states.ts'

/** The table of the domain contract, written out a second time: from → every state it may become. */
export const contractMoves: Readonly<Record<State, readonly State[]>> = {
  submitted: ['working', 'rejected', 'canceled'],
  working: [
    'completed',
    'failed',
    'rejected',
    'canceled',
    'input-required',
    'auth-required',
    'user-consent-required',
    'paused-by-client',
    'paused-by-agent',
  ],
  'input-required': ['working', 'canceled', 'failed', 'paused-by-client'],
  'auth-required': ['working', 'canceled', 'failed'],
  'user-consent-required': ['working', 'canceled', 'failed'],
  'paused-by-client': ['working', 'canceled', 'failed', 'input-required'],
  'paused-by-agent': ['working', 'canceled', 'failed'],
  completed: [],
  failed: [],
  canceled: [],
  rejected: [],
}
