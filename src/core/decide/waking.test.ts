import { describe, expect, it } from 'vitest'
import { MOST_CONSUMED } from '../evolve/stopping.ts'
import {
  due,
  happen,
  hold,
  lift,
  MINUTE,
  only,
  park,
  parked,
  pause,
  quiescing,
  resume,
  run,
  type Story,
  typesOf,
  working,
} from '../test-support/story.ts'
import { toIso } from '../values/instant.ts'
import type { ResumeConditions, Timeout } from '../waiting/conditions.ts'

describe('an event', () => {
  it('that matches wakes the task and is handed over apart from the input', () => {
    const story = parked({ conditions: { onEvent: 'built:7' } })
    const event = { id: 'e', source: 'ci', type: 'built', subject: '7', data: { ok: true } }
    const records = story.tell({ type: 'event', event, pos: 11, run: run('run-2') })
    expect(typesOf(records)).toEqual(['resumed'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-2'), consumed: [11] })
    expect(story.task.wake).toMatchObject({
      cause: 'condition_fired',
      input: null,
      event,
      continueTranscript: true,
    })
    expect(story.task.resumes.at(-1)?.hadResumeInput).toBe(false)
  })

  it('is remembered with the newest 1,000 that woke the task, and older ones wake it no more', () => {
    const story = parked({ conditions: { onEvent: 'built' } })
    const again = park('suspend-2', { conditions: { onEvent: 'built' }, eventsNow: 0 })
    for (let pos = 11; pos < 11 + 2 * MOST_CONSUMED; pos += 2) {
      story.tell(happen('built', pos, { run: run('run-1') }))
      story.tell(again)
    }
    expect(story.task).toMatchObject({ consumed: { length: MOST_CONSUMED } })
    story.tell(happen('built', 11 + 2 * MOST_CONSUMED, { run: run('run-1') }))
    expect(story.task.consumed).toHaveLength(MOST_CONSUMED)
    expect(story.task.eventsAfter).toBe(11)
    story.tell(again)
    expect(story.tell(happen('built', 11))).toEqual([])
    expect(story.tell(happen('built', 13))).toEqual([])
    expect(typesOf(story.tell(happen('built', 14)))).toEqual(['resumed'])
  })

  it.each<[string, ResumeConditions | undefined]>([
    ['another name', { onEvent: 'other' }],
    ['no conditions', undefined],
    ['empty conditions', {}],
    ['a timeout only', { timeout: { durationMinutes: 1 } }],
  ])('does not wake a task that waits for %s', (_, conditions) => {
    const story = parked(conditions === undefined ? {} : { conditions })
    expect(story.tell(happen('built', 11))).toEqual([])
  })

  it('that passes the filter of a trigger wakes', () => {
    const filter = { all: [{ exact: { type: 'built' } }, { not: { exact: { source: 'x' } } }] }
    const story = parked({ conditions: { trigger: { filter } } })
    expect(typesOf(story.tell(happen('built', 11)))).toEqual(['resumed'])
  })

  it('does nothing to a task that is not stopped', () => {
    expect(working().tell(happen('built', 11))).toEqual([])
    expect(quiescing({ conditions: { onEvent: 'built' } }).tell(happen('built', 21))).toEqual([])
  })

  it('wakes a client’s pause with conditions too', () => {
    const story = working()
    story.tell(pause('suspend-1', { conditions: { onEvent: 'built' } }))
    expect(typesOf(story.tell(happen('built', 21)))).toEqual(['resumed'])
  })
})

// The task was created when the newest event had position 10; the park and the pause see position 20.
describe('an event that was faster than the stop', () => {
  const conditions = { onEvent: 'built' } as const

  it('wakes a park when it came after the task was created', () => {
    expect(typesOf(parked({ conditions }).tell(happen('built', 11)))).toEqual(['resumed'])
  })

  it('does not wake a park when it is older than the task', () => {
    expect(parked({ conditions }).tell(happen('built', 10))).toEqual([])
  })

  it('does not wake a park that counts from now', () => {
    const story = parked({ conditions: { ...conditions, since: 'now' } })
    expect(story.tell(happen('built', 20))).toEqual([])
    expect(typesOf(story.tell(happen('built', 21)))).toEqual(['resumed'])
  })

  it('does not wake a client’s pause, which counts from its acceptance', () => {
    const story = working()
    story.tell(pause('suspend-1', { conditions: { ...conditions, since: 'task' } }))
    expect(story.tell(happen('built', 20))).toEqual([])
    expect(typesOf(story.tell(happen('built', 21)))).toEqual(['resumed'])
  })

  it('wakes a client’s pause that quiesced when it came', () => {
    const story = quiescing({ conditions })
    story.tell({ type: 'commit-pause', run: 'run-1' })
    expect(typesOf(story.tell(happen('built', 21)))).toEqual(['resumed'])
  })

  it('wakes a later park too, also when other stops lie between', () => {
    const story = parked({ conditions: { onEvent: 'other' } })
    story.tell(
      resume({ run: run('run-2') }),
      pause('suspend-2'),
      resume({ run: run('run-3') }),
      park('suspend-3', { run: 'run-3', conditions }),
    )
    expect(typesOf(story.tell(happen('built', 11)))).toEqual(['resumed'])
  })

  it('wakes a task once: what was consumed does not wake the next park', () => {
    const story = parked({ conditions })
    story.tell(
      happen('built', 12, { run: run('run-2') }),
      park('suspend-2', { run: 'run-2', conditions }),
    )
    expect(story.tell(happen('built', 12))).toEqual([])
    expect(typesOf(story.tell(happen('built', 11)))).toEqual(['resumed'])
    expect(story.task.consumed).toEqual([12, 11])
  })

  it('is forgotten once it is gone from the store, and cannot wake the task again', () => {
    const story = parked({ conditions })
    const wakeAt = (pos: number, n: number, removedUpTo: number) =>
      story.tell(
        happen('built', pos, { run: run(`run-${n}`), removedUpTo }),
        park(`suspend-${n}`, { run: `run-${n}`, conditions }),
      )
    wakeAt(12, 2, 0)
    wakeAt(15, 3, 0)
    wakeAt(20, 4, 12)
    expect(story.task).toMatchObject({ eventsAfter: 12, consumed: [15, 20] })
    for (const pos of [11, 12, 15, 20]) expect(story.tell(happen('built', pos))).toEqual([])
    expect(typesOf(story.tell(happen('built', 13)))).toEqual(['resumed'])
  })

  it('is forgotten in time also when it fired under a hold', () => {
    const story = parked({ conditions })
    story.tell(
      happen('built', 12, { run: run('run-2') }),
      park('suspend-2', { run: 'run-2', conditions }),
      hold('hold-1'),
      happen('built', 20, { removedUpTo: 12 }),
      lift('hold-1', 'run-3'),
    )
    expect(story.task).toMatchObject({ eventsAfter: 12, consumed: [20] })
  })
})

describe('a schedule or an instant', () => {
  it.each([
    ['lull.schedule', { schedule: { cron: '0 9 * * *' } }],
    ['lull.at', { at: '2026-01-01T00:00:00.000Z' }],
  ] as const)('fires as %s, not a moment too early', (type, trigger) => {
    const fireAt = 1_000_000 + MINUTE
    const story = parked({ conditions: { trigger }, fireAt })
    story.wait(MINUTE - 1)
    expect(story.tell(due())).toEqual([])
    story.wait(1)
    const resumed = only(story.tell(due('run-2')), 'resumed')
    expect(resumed).toMatchObject({
      cause: 'condition_fired',
      input: null,
      continueTranscript: true,
      event: { type, time: toIso(fireAt) },
    })
    expect(story.task.run).toEqual(run('run-2'))
  })

  it('in the past fires at once', () => {
    const story = parked({ conditions: { trigger: { at: toIso(5) } }, fireAt: 5 })
    expect(typesOf(story.tell(due()))).toEqual(['resumed'])
  })
})

describe('the deadline', () => {
  const timing = (timeout: Partial<Timeout> = {}, reason = 'waiting on ci'): Story => {
    const story = parked({
      reason,
      conditions: { timeout: { durationMinutes: 2, ...timeout } },
    })
    story.wait(2 * MINUTE)
    return story
  }
  const event = {
    type: 'lull.timeout',
    handle: 'suspend-1',
    deadlineAt: toIso(1_000_000 + 2 * MINUTE),
  }

  it('is absolute, stored with the stop, and allows fractions', () => {
    const story = parked({ conditions: { timeout: { durationMinutes: 0.001 } } })
    expect(story.task.suspension?.deadlineAt).toBe(1_000_060)
  })

  it('does nothing before it passed', () => {
    const story = parked({ conditions: { timeout: { durationMinutes: 2 } } })
    story.wait(2 * MINUTE - 1)
    expect(story.tell(due())).toEqual([])
  })

  it('by default resumes with a summary: no input and no transcript', () => {
    const story = timing()
    expect(only(story.tell(due()), 'resumed')).toMatchObject({
      cause: 'timeout',
      input: null,
      event,
      continueTranscript: false,
    })
    expect(story.task.resumes.at(-1)?.hadResumeInput).toBe(false)
  })

  it('with resume_with_input gives the input that was set', () => {
    const story = timing({ onTimeout: 'resume_with_input', input: { give: 'up' } })
    expect(only(story.tell(due()), 'resumed')).toMatchObject({
      cause: 'timeout',
      input: { give: 'up' },
      event,
      continueTranscript: true,
    })
  })

  it('with resume_with_input and none set gives the timeout event itself', () => {
    const story = timing({ onTimeout: 'resume_with_input' })
    expect(only(story.tell(due()), 'resumed').input).toEqual(event)
  })

  it('with fail ends the task and says which deadline passed', () => {
    const story = timing({ onTimeout: 'fail' })
    const failed = only(story.tell(due()), 'failed')
    expect(failed.failure.message).toBe(`The deadline ${event.deadlineAt} passed (waiting on ci)`)
    expect(failed.message).toEqual({
      messageId: 'm-due',
      role: 'ROLE_AGENT',
      parts: [{ text: failed.failure.message }],
      taskId: 'task-1',
      contextId: 'context-1',
    })
    expect(story.task.state).toBe('failed')
    expect(story.task.suspension).toBeUndefined()
  })

  it('fires also long after it passed', () => {
    const story = timing()
    story.wait(1_000 * MINUTE)
    expect(typesOf(story.tell(due()))).toEqual(['resumed'])
  })
})

describe('of a trigger and a deadline', () => {
  const both = (fireAt: number): Story => {
    const story = parked({
      conditions: {
        trigger: { at: toIso(fireAt) },
        timeout: { durationMinutes: 1, onTimeout: 'fail' },
      },
      fireAt,
    })
    // Both have passed by now, as after a long sleep of the system.
    story.wait(10 * MINUTE)
    return story
  }

  it('the earlier one wins when it is the trigger', () => {
    const resumed = only(both(1_000_000 + MINUTE - 1).tell(due()), 'resumed')
    expect(resumed.cause).toBe('condition_fired')
  })

  it('the earlier one wins when it is the deadline', () => {
    expect(typesOf(both(1_000_000 + MINUTE + 1).tell(due()))).toEqual(['failed'])
  })

  it('the trigger wins a draw', () => {
    expect(typesOf(both(1_000_000 + MINUTE).tell(due()))).toEqual(['resumed'])
  })
})

describe('a clock that rings for nothing', () => {
  it('writes nothing', () => {
    for (const story of [working(), quiescing(), parked(), parked({ conditions: {} })]) {
      story.wait(1e9)
      expect(story.tell(due())).toEqual([])
    }
  })
})
