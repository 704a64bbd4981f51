/**
 * The states of a task and the moves between them. This table is the whole truth: `evolve` refuses any move that is
 * not in it, so an illegal transition cannot be written, whatever a caller, an agent or a bug asks for.
 */
export type State =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'auth-required'
  | 'user-consent-required'
  | 'paused-by-client'
  | 'paused-by-agent'
  | TerminalState

export type TerminalState = 'completed' | 'failed' | 'canceled' | 'rejected'
export type InterruptedState = 'input-required' | 'auth-required' | 'user-consent-required'
export type PausedState = 'paused-by-client' | 'paused-by-agent'

type Row = readonly [from: State, to: readonly State[], by: string]

/** Reads like the table of the domain contract: from, to, by whom. */
export const transitions: readonly Row[] = [
  ['submitted', ['working'], 'the runner, or a pause on its way to paused-by-client'],
  ['submitted', ['rejected'], 'the agent'],
  ['submitted', ['canceled'], 'cancel'],
  ['working', ['completed', 'failed', 'rejected'], 'the agent'],
  ['working', ['canceled'], 'cancel'],
  ['working', ['input-required', 'auth-required', 'user-consent-required'], 'the agent'],
  ['input-required', ['working', 'canceled', 'failed'], 'answer, cancel, expiry of the question'],
  ['auth-required', ['working', 'canceled', 'failed'], 'answer, cancel, expiry of the question'],
  ['user-consent-required', ['working', 'canceled', 'failed'], 'answer, cancel, expiry'],
  ['working', ['paused-by-client'], 'a pause that committed'],
  ['working', ['paused-by-agent'], 'a park'],
  ['paused-by-client', ['working', 'canceled', 'failed'], 'resume, cancel, timeout "fail"'],
  ['paused-by-agent', ['working', 'canceled', 'failed'], 'resume, cancel, timeout "fail"'],
  // Only where a dialect allows it (Bindu): the question is kept and comes back on resume.
  ['input-required', ['paused-by-client'], 'a pause in the Bindu dialect'],
  ['paused-by-client', ['input-required'], 'resume of such a pause'],
]

const moves: { readonly [from in State]?: readonly State[] } = Object.fromEntries(
  transitions.map(([from]) => [
    from,
    transitions.flatMap(([other, to]) => (other === from ? to : [])),
  ]),
)

export const states: readonly State[] = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'user-consent-required',
  'paused-by-client',
  'paused-by-agent',
  'completed',
  'failed',
  'canceled',
  'rejected',
]

export function canMove(from: State, to: State): boolean {
  return moves[from]?.includes(to) ?? false
}

export function isTerminal(state: State): state is TerminalState {
  return state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected'
}

export function isInterrupted(state: State): state is InterruptedState {
  return (
    state === 'input-required' || state === 'auth-required' || state === 'user-consent-required'
  )
}

export function isPaused(state: State): state is PausedState {
  return state === 'paused-by-client' || state === 'paused-by-agent'
}
