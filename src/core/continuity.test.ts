import { describe, expect, it } from 'vitest'
import { continuity, digestReminder } from './continuity.ts'
import type { Wake } from './suspension.ts'

const wake: Wake = {
  handle: 'suspend-1',
  epoch: 1,
  cause: 'explicit_resume',
  input: null,
  continueTranscript: true,
  reason: 'lunch',
  stoppedBy: { kind: 'client', id: 'alice' },
  stoppedAt: 0,
  resumedAt: 60_000,
  pausedMs: 60_000,
}

describe('the continuity reminder', () => {
  it('says when, why and by whom the task was stopped, and what woke it', () => {
    expect(continuity(wake, 'r-1', 60_001).body).toBe(
      'You were stopped at 1970-01-01T00:00:00.000Z by client alice (lunch) ' +
        'and go on at 1970-01-01T00:01:00.000Z: explicit_resume.',
    )
  })

  it('names the event of the wake', () => {
    const event = { id: 'e', source: 'ci', type: 'ci.build.completed' }
    const { body } = continuity({ ...wake, cause: 'condition_fired', event }, 'r-1', 0)
    expect(body).toContain('condition_fired by ci.build.completed.')
  })

  it('says nothing of a reason nobody gave', () => {
    const { reason: _, ...silent } = wake
    expect(continuity(silent, 'r-1', 0).body).not.toContain('(')
  })

  it('lives for one turn, does not travel, and is marked as ours', () => {
    expect(continuity(wake, 'r-1', 60_001)).toMatchObject({
      id: 'r-1',
      ttlTurns: 1,
      propagate: 'none',
      preserveOnCompact: false,
      mode: 'wait_for_completion',
      roleHint: 'system',
      source: 'lull',
      tags: ['continuity'],
      acceptedAt: 60_001,
    })
  })
})

describe('the digest reminder', () => {
  it('stands beside the continuity reminder under an id of its own', () => {
    const reminder = digestReminder('Asked: rebase', 'r-1', 5)
    expect(reminder.id).toBe('r-1-digest')
    expect(reminder.body).toContain('Asked: rebase')
    expect(reminder).toMatchObject({
      ttlTurns: 1,
      propagate: 'none',
      tags: ['continuity', 'digest'],
    })
  })
})
