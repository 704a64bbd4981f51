import { describe, expect, it } from 'vitest'
import { canMove, isInterrupted, isPaused, isTerminal, states, transitions } from './states.ts'
import { contractMoves } from './test-support/contract-moves.ts'

describe('the states of a task', () => {
  it('are eleven, each listed once', () => {
    expect([...states].sort()).toEqual(Object.keys(contractMoves).sort())
  })

  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))
  it.each(pairs)('%s → %s is allowed exactly if the table of moves has it', (from, to) => {
    expect(canMove(from, to)).toBe(contractMoves[from]?.includes(to))
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
