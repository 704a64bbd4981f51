import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reminder } from '../test-support/story.ts'
import {
  ACCEPTED_REMINDERS_KEPT,
  type AcceptedReminder,
  afterTurn,
  inherited,
  isVisible,
  type PendingReminder,
  type Reminder,
  remembering,
} from './reminders.ts'

// The same cases every time.
fc.configureGlobal({ seed: 8785 })

const pending = (some: Partial<Reminder> = {}, shownInTurn?: number): PendingReminder => ({
  reminder: reminder('r-1', some),
  ...(shownInTurn === undefined ? {} : { emittedAtTurn: shownInTurn, shownInTurn }),
})

describe('a reminder', () => {
  it.each(['finish_step', 'interrupt_immediate'] as const)(
    'with mode %s is shown within the running turn if it reads again',
    (mode) => {
      expect(isVisible(pending({ mode }), 'reread')).toBe(true)
    },
  )

  it('with mode wait_for_completion waits for the next turn', () => {
    expect(isVisible(pending({ mode: 'wait_for_completion' }), 'reread')).toBe(false)
  })

  it.each(['finish_step', 'interrupt_immediate', 'wait_for_completion'] as const)(
    'with mode %s is shown when a turn starts',
    (mode) => {
      expect(isVisible(pending({ mode }), 'start')).toBe(true)
    },
  )
})

describe('the TTL of a reminder', () => {
  it('loses one when a turn that showed it completes', () => {
    const { left, expired } = afterTurn([pending({ ttlTurns: 3 }, 4)], 4)
    expect(left[0]?.reminder.ttlTurns).toBe(2)
    expect(expired).toEqual([])
  })

  it('is over at zero', () => {
    expect(afterTurn([pending({ ttlTurns: 1 }, 4)], 4)).toEqual({ left: [], expired: ['r-1'] })
  })

  it('loses nothing by turns that did not show it', () => {
    const items = [pending({ ttlTurns: 1 }), pending({ ttlTurns: 1 }, 3)]
    expect(afterTurn(items, 4)).toEqual({ left: items, expired: [] })
  })

  it('loses nothing before the turn its source saw', () => {
    const item = pending({ ttlTurns: 1, firedAtTurn: 5 }, 4)
    expect(afterTurn([item], 4)).toEqual({ left: [item], expired: [] })
  })

  it('loses one in the turn its source saw', () => {
    expect(afterTurn([pending({ ttlTurns: 1, firedAtTurn: 4 }, 4)], 4).expired).toEqual(['r-1'])
  })

  it.each(['skipped', 'failed'] as const)('loses nothing by a turn that %s', (outcome) => {
    const item = pending({ ttlTurns: 1 }, 4)
    expect(afterTurn([item], 4, outcome)).toEqual({ left: [item], expired: [] })
  })

  it('does not exist unless it was given: the reminder stays until the task ends', () => {
    const item = pending({}, 4)
    expect(afterTurn([item], 4)).toEqual({ left: [item], expired: [] })
  })

  it('is shown exactly that many turns', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(20), (ttlTurns, firedAtTurn) => {
        let items: readonly PendingReminder[] = [pending({ ttlTurns, firedAtTurn })]
        let turns = 0
        while (items.length > 0) {
          turns++
          items = afterTurn(
            items.map((item) => ({ ...item, shownInTurn: turns })),
            turns,
          ).left
        }
        expect(turns).toBe(Math.max(firedAtTurn, 1) + ttlTurns - 1)
      }),
    )
  })
})

describe('what a task remembers of its injections', () => {
  it('is the newest ones, each with what it was answered', () => {
    const ids = Array.from({ length: ACCEPTED_REMINDERS_KEPT + 2 }, (_, n) => `r-${n}`)
    const known = ids.reduce<readonly AcceptedReminder[]>(
      (before, id) => remembering(before, reminder(id, { acceptedAt: 7 }), 3),
      [],
    )
    expect(known.map(({ id }) => id)).toEqual(ids.slice(2))
    expect(known[0]).toMatchObject({ acceptedAt: 7, dedupedCount: 3 })
  })

  it('tells bodies apart', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const [print, second] = [one, other].map(
          (body) => remembering([], reminder('r', { body }))[0]?.print,
        )
        expect(print === second).toBe(one === other)
      }),
    )
  })
})

describe('what a sub-task inherits', () => {
  const levels = (propagate: Reminder['propagate']): readonly number[] => {
    const child = inherited([pending({ propagate })], 'task-1')
    const grandchild = inherited(
      child.map((copy) => ({ reminder: copy })),
      'task-2',
    )
    return [child.length, grandchild.length]
  }

  it('"all" travels at every level', () => {
    expect(levels('all')).toEqual([1, 1])
  })

  it('"session" travels one level and not again from the child', () => {
    expect(levels('session')).toEqual([1, 0])
  })

  it('"none" never travels', () => {
    expect(levels('none')).toEqual([0, 0])
  })

  it('is a copy with the same id that says where it came from', () => {
    const original = reminder('r-1', { propagate: 'all', ttlTurns: 2, tags: ['x'] })
    expect(inherited([{ reminder: original, emittedAtTurn: 3, shownInTurn: 3 }], 'task-1')).toEqual(
      [{ ...original, inheritedFrom: 'task-1' }],
    )
  })

  it('names the task it was injected into, at every level', () => {
    const [copy] = inherited([pending({ propagate: 'all', inheritedFrom: 'task-0' })], 'task-1')
    expect(copy?.inheritedFrom).toBe('task-0')
  })
})
