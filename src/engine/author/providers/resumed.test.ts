import { describe, expect, it } from 'vitest'
import type { Wake } from '../../../core/suspension.ts'
import { working } from '../../../core/test-support/story.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import { resumed } from './built-in.ts'
import type { TurnStart } from './provider.ts'

const wake: Wake = {
  handle: 'suspend-1',
  epoch: 1,
  cause: 'explicit_resume',
  input: null,
  continueTranscript: true,
  reason: 'lunch',
  stoppedBy: { kind: 'client', id: 'alice' },
  resumedBy: { kind: 'client', id: 'bob' },
  stoppedAt: 0,
  resumedAt: 60_000,
  pausedMs: 60_000,
}

function wanted(some: Partial<TurnStart>): readonly ReminderRequest[] {
  const moment = { type: 'turn-starting', turn: 4, idleMs: 0, ...some } as const
  return [resumed()(moment, working().task) || []].flat() as readonly ReminderRequest[]
}
const told = (some: Partial<Wake> = {}): string =>
  wanted({ wake: { ...wake, ...some } })[0]?.body ?? ''

describe('the continuity reminder', () => {
  it('says when, where, why and by whom the task was stopped, and by what and with what it was woken', () => {
    expect(told()).toBe(
      'You were stopped after turn 3 at 1970-01-01T00:00:00.000Z by client alice (lunch) ' +
        'and go on at 1970-01-01T00:01:00.000Z: explicit_resume by client bob. ' +
        'You were given no input.',
    )
  })

  it('names the event of the wake', () => {
    const event = { id: 'e', source: 'ci', type: 'ci.build.completed' }
    expect(told({ cause: 'condition_fired', event })).toContain(
      'condition_fired by ci.build.completed.',
    )
  })

  it('shows the input, as much of it as fits', () => {
    expect(told({ input: { approved: true } })).toContain('You were given: {"approved":true}')
    expect(told({ input: 'x'.repeat(5_000) }).length).toBeLessThan(2_000)
  })

  it('says nothing of a reason nobody gave', () => {
    const { reason: _, ...silent } = wake
    expect(wanted({ wake: silent })[0]?.body).not.toContain('(')
  })

  it('knows of no turn before the first', () => {
    expect(wanted({ wake, turn: 1 })[0]?.body).toContain('stopped before your first turn')
  })

  it('lives for one turn, does not travel, is marked as ours, and is one for each stop', () => {
    expect(wanted({ wake })).toMatchObject([
      {
        id: 'suspend-1-continuity',
        ttlTurns: 1,
        propagate: 'none',
        mode: 'wait_for_completion',
        source: 'lull',
        tags: ['continuity'],
      },
    ])
  })

  it('does not come where nothing stopped', () => {
    expect(wanted({})).toEqual([])
  })
})

describe('the digest reminder', () => {
  it('stands beside the continuity reminder under an id of its own, cut where it is too long', () => {
    const [, digest] = wanted({ wake, digest: `Asked: ${'rebase '.repeat(5_000)}` })
    expect(digest).toMatchObject({
      id: 'suspend-1-continuity-digest',
      ttlTurns: 1,
      propagate: 'none',
      tags: ['continuity', 'digest'],
    })
    expect(digest?.body).toContain('Asked: rebase')
    expect(digest?.body.length).toBeLessThanOrEqual(16_384)
  })
})
