import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createPresences, type Move, nextPhase, type Phase, transitions } from './presence.ts'
import { createSlots } from './slots.ts'
import { createWarm } from './warm.ts'

const moves = [...new Set(transitions.map(([, move]) => move))]
const phases = [...new Set(transitions.flatMap(([from, , to]) => [...from, to]))]

const task = { id: 'task', agent: 'agent', tenant: 'acme' }

function setUp() {
  const slots = createSlots({ limitOf: () => 1, tenantShare: 1, freed: () => undefined })
  const options = { warmForMs: 1_000, memoryLimitBytes: 1 }
  const warm = createWarm(createManualClock(), { usedBytes: () => 0 }, options, () => undefined)
  return { slots, warm, presences: createPresences(slots, warm) }
}

describe('the phases of a task in this process', () => {
  it('have one target per move, and every phase can be left', () => {
    const rows = transitions.flatMap(([from, move]) => from.map((phase) => `${phase} ${move}`))
    expect(new Set(rows).size).toBe(rows.length)
    for (const phase of phases) {
      expect(moves.some((move) => nextPhase(phase, move) !== undefined)).toBe(true)
    }
  })

  it('P1 P2: any sequence of moves leaves the slot and the warm list as the phase says', () => {
    const withSlot: readonly Phase[] = ['building', 'running']
    const warmPhases: readonly Phase[] = ['waiting', 'warm']
    fc.assert(
      fc.property(fc.array(fc.constantFrom<Move>(...moves)), (sequence) => {
        const { slots, warm, presences } = setUp()
        let presence = presences.create(task, 'token-0')
        for (const [index, move] of sequence.entries()) {
          const before = presence.phase
          if (before === 'absent') presence = presences.create(task, `token-${index}`)
          if (before === 'absent' || before === 'warm') presence.token = `token-${index}`
          const to = nextPhase(before, move)
          // The caller has the slot before it makes a move to a phase with one.
          if (to !== undefined && withSlot.includes(to)) slots.take('agent', presence.token, 'acme')
          expect(presences.move(presence, move)).toBe(to !== undefined)
          expect(presence.phase).toBe(to ?? before)
          if (to === undefined) continue
          expect(slots.has(presence.token)).toBe(withSlot.includes(to))
          expect(slots.used()).toBeLessThanOrEqual(1)
          expect(warm.size()).toBe(warmPhases.includes(to) ? 1 : 0)
          expect(presences.get('task')?.phase).toBe(to === 'absent' ? undefined : to)
        }
      }),
    )
  })
})
