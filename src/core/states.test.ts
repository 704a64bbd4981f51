import { describe, expect, it } from 'vitest'
import { canMove, isInterrupted, isPaused, isTerminal, states, transitions } from './states.ts'

/** The table of the domain contract, written out a second time: from → every state it may become. */
const allowed: Readonly<Record<string, readonly string[]>> = {
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

describe('the states of a task', () => {
  it('are the eleven of the contract, each listed once', () => {
    expect([...states].sort()).toEqual(Object.keys(allowed).sort())
  })

  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))
  it.each(pairs)('%s → %s is allowed exactly where the contract says so', (from, to) => {
    expect(canMove(from, to)).toBe(allowed[from]?.includes(to))
  })

  it('are left in no way once terminal', () => {
    const left = transitions.map(([from]) => from)
    expect(left.filter(isTerminal)).toEqual([])
  })

  it('never become submitted again', () => {
    expect(states.filter((from) => canMove(from, 'submitted'))).toEqual([])
  })

  it('belong to at most one family', () => {
    const families = states.map((state) => [
      isTerminal(state) && 'terminal',
      isInterrupted(state) && 'interrupted',
      isPaused(state) && 'paused',
    ])
    expect(families.map((family) => family.filter(Boolean))).toEqual([
      [],
      [],
      ['interrupted'],
      ['interrupted'],
      ['interrupted'],
      ['paused'],
      ['paused'],
      ['terminal'],
      ['terminal'],
      ['terminal'],
      ['terminal'],
    ])
  })
})
