/** How each state of a task is shown: a word, a shape and a colour. Take away the colour and nothing is lost. */
import type { State } from '../../src/core/states.ts'
import type { TaskSummary } from '../../src/wire/ops/tasks.ts'

/** The meaning of a colour: it works, it asks, it lies still, it ended well, it failed, none of these. */
export type Tone = 'run' | 'ask' | 'stop' | 'done' | 'fail' | 'off'

export interface Look {
  readonly word: string
  /** A symbol of the page: `#s-…`. */
  readonly shape: string
  readonly tone: Tone
}

/** Total: a new state does not compile until it has a look. */
export const looks: Readonly<Record<State, Look>> = {
  submitted: { word: 'Submitted', shape: 'submitted', tone: 'run' },
  working: { word: 'Working', shape: 'working', tone: 'run' },
  'input-required': { word: 'Input required', shape: 'input', tone: 'ask' },
  'auth-required': { word: 'Sign-in required', shape: 'auth', tone: 'ask' },
  'user-consent-required': { word: 'Consent required', shape: 'consent', tone: 'ask' },
  'paused-by-agent': { word: 'Parked', shape: 'parked', tone: 'stop' },
  'paused-by-client': { word: 'Paused', shape: 'paused', tone: 'stop' },
  completed: { word: 'Completed', shape: 'completed', tone: 'done' },
  failed: { word: 'Failed', shape: 'failed', tone: 'fail' },
  rejected: { word: 'Rejected', shape: 'rejected', tone: 'fail' },
  canceled: { word: 'Canceled', shape: 'canceled', tone: 'off' },
}

const pausing: Look = { word: 'Pausing', shape: 'pausing', tone: 'run' }
const unreadable: Look = { word: 'Unreadable', shape: 'unreadable', tone: 'fail' }

export function lookOf({ state, pausing: comesToAStop, stop }: TaskSummary): Look {
  if (stop?.reason === 'unreadable' && stop.actor.kind === 'policy') return unreadable
  if (comesToAStop) return pausing
  const look = isState(state) ? looks[state] : unreadable
  const byPolicy = state === 'paused-by-client' && stop?.actor.kind === 'policy'
  return byPolicy ? { ...look, word: 'Paused by policy' } : look
}

export function isState(text: string): text is State {
  return Object.hasOwn(looks, text)
}

/** The columns of the board, and the groups of states that lists are filtered by. */
export interface Group {
  readonly id: Tone
  readonly title: string
  /** One word for where there is little room. */
  readonly short: string
  readonly shape: string
  readonly states: readonly State[]
  readonly empty: string
}

export const groups: readonly Group[] = [
  {
    id: 'ask',
    title: 'Ask a person',
    short: 'Ask',
    shape: 'input',
    states: ['input-required', 'user-consent-required', 'auth-required'],
    empty: 'Nobody is asked for anything.',
  },
  {
    id: 'run',
    title: 'Running',
    short: 'Running',
    shape: 'working',
    states: ['working', 'submitted'],
    empty: 'No task runs at the moment.',
  },
  {
    id: 'stop',
    title: 'Stopped',
    short: 'Stopped',
    shape: 'parked',
    states: ['paused-by-agent', 'paused-by-client'],
    empty: 'No task is parked or paused.',
  },
  {
    id: 'fail',
    title: 'Failed',
    short: 'Failed',
    shape: 'failed',
    states: ['failed', 'rejected'],
    empty: 'No task has failed.',
  },
  {
    id: 'done',
    title: 'Ended',
    short: 'Ended',
    shape: 'completed',
    states: ['completed', 'canceled'],
    empty: 'No task has ended yet.',
  },
]

export function countOf(
  counts: Readonly<Record<string, number>>,
  states: readonly string[],
): number {
  return states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
}
