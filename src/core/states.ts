/**
 * The states of a task and the transitions between them. `evolve` rejects every move that is not in
 * this table, so an illegal transition cannot be written.
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

/** Each row: from, to, and who or what makes the transition. */
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
  // Bindu and ACP can pause a question. It is kept, and open again after the resume.
  ['input-required', ['paused-by-client'], 'a pause in the Bindu dialect'],
  ['paused-by-client', ['input-required'], 'resume of such a pause'],
]

const moves: { readonly [from in State]?: readonly State[] } = Object.fromEntries(
  transitions.map(([from]) => [
    from,
    transitions.flatMap(([other, to]) => (other === from ? to : [])),
  ]),
)

type KindOf<S extends State> = S extends TerminalState
  ? 'terminal'
  : S extends InterruptedState
    ? 'interrupted'
    : S extends PausedState
      ? 'paused'
      : 'runnable'

/** The kind of every state. A new state does not compile until it is in this table. */
const kinds: { readonly [S in State]: KindOf<S> } = {
  submitted: 'runnable',
  working: 'runnable',
  'input-required': 'interrupted',
  'auth-required': 'interrupted',
  'user-consent-required': 'interrupted',
  'paused-by-client': 'paused',
  'paused-by-agent': 'paused',
  completed: 'terminal',
  failed: 'terminal',
  canceled: 'terminal',
  rejected: 'terminal',
}

export const states: readonly State[] = Object.keys(kinds) as State[]

/** The states of tasks that have ended. */
export const terminalStates: readonly TerminalState[] = states.filter(isTerminal)

export function canMove(from: State, to: State): boolean {
  return moves[from]?.includes(to) ?? false
}

export function kindOf(state: State): KindOf<State> {
  return kinds[state]
}

export function isTerminal(state: State): state is TerminalState {
  return kinds[state] === 'terminal'
}

export function isInterrupted(state: State): state is InterruptedState {
  return kinds[state] === 'interrupted'
}

export function isPaused(state: State): state is PausedState {
  return kinds[state] === 'paused'
}
