import { expect, it } from 'vitest'
import { createTaskEntry, isSettled, move, type Phase, phaseTransitions } from './task-entry.ts'

const phases: readonly Phase[] = [
  'unknown',
  'loading',
  'unreadable',
  'idle',
  'open',
  'queued',
  'writing',
]

it('an entry moves between phases only as the table says', () => {
  for (const from of phases) {
    for (const to of phases) {
      const entry = createTaskEntry('t')
      entry.phase = from
      const listed = phaseTransitions.some(([one, others]) => one === from && others.includes(to))
      if (listed) {
        move(entry, to)
        expect(entry.phase).toBe(to)
      } else expect(() => move(entry, to)).toThrow(`cannot become ${to}`)
    }
  }
})

it('an entry may leave memory only while nothing is under way for it', () => {
  const settled = phases.filter((phase) => isSettled({ ...createTaskEntry('t'), phase }))
  expect(settled).toEqual(['unknown', 'unreadable', 'idle'])
})
