import { describe, expect, it } from 'vitest'
import { ACCEPTED_REMINDERS_KEPT, type ProvidedReminder } from '../reminders/reminders.ts'
import {
  asked,
  cancel,
  complete,
  createStory,
  endTurn,
  fail,
  only,
  parked,
  paused,
  provided,
  quiescing,
  record,
  remind,
  reminder,
  resume,
  run,
  type Story,
  start,
  startTurn,
  submit,
  submitted,
  typesOf,
  working,
} from '../test-support/story.ts'

const pendingIds = (story: Story): readonly string[] =>
  story.task.reminders.map((item) => item.reminder.id)
const show = (ids: readonly string[], turn = 1) =>
  ({ type: 'show-reminders', run: 'run-1', key: 'reread', turn, ids }) as const

describe('injecting a reminder', () => {
  it.each([
    ['submitted', submitted],
    ['working', working],
    ['quiescing', quiescing],
    ['paused', paused],
    ['parked', parked],
    ['asked', asked],
  ])('into a %s task appends it and wakes nobody', (_, begin) => {
    const story = begin()
    const { state } = story.task
    expect(typesOf(story.tell(remind('r-1')))).toEqual(['reminder-injected'])
    expect(pendingIds(story)).toEqual(['r-1'])
    expect(story.task.state).toBe(state)
  })

  it('never reaches the history', () => {
    const story = working()
    const { history, queued } = story.task
    story.tell(remind('r-1'), startTurn())
    expect(story.task).toMatchObject({ history, queued: [] })
    expect(queued).toHaveLength(1)
  })

  it('keeps the order of arrival', () => {
    const story = working()
    story.tell(remind('r-2'), remind('r-1'), remind('r-3'))
    expect(pendingIds(story)).toEqual(['r-2', 'r-1', 'r-3'])
  })
})

describe('the same id', () => {
  it('with the same body is the same reminder', () => {
    const story = working()
    story.tell(remind('r-1'))
    expect(story.tell(remind('r-1'))).toEqual([])
  })

  it('with another body is refused', () => {
    const story = working()
    story.tell(remind('r-1'))
    expect(story.refusal(remind('r-1', { body: 'other' }))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'reminder.id' },
    })
  })

  const gone: readonly (readonly [string, (story: Story) => unknown])[] = [
    ['shown and expired', (story) => story.tell(startTurn(), endTurn(1))],
    ['displaced', (story) => story.tell(remind('r-2', { dedupeKey: 'k' }))],
    ['cleared', (story) => story.tell({ type: 'clear-reminders', filter: {} })],
    ['left behind by a task that ended', (story) => story.tell(complete())],
  ]

  it.each(gone)('stays the same reminder when it is %s', (_, end) => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 1, dedupeKey: 'k' }))
    end(story)
    expect(pendingIds(story)).not.toContain('r-1')
    expect(story.tell(remind('r-1', { ttlTurns: 1, dedupeKey: 'k' }))).toEqual([])
  })

  it('with another body is refused also when it is gone', () => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 1 }), startTurn(), endTurn(1))
    expect(story.refusal(remind('r-1', { body: 'other' }))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'reminder.id' },
    })
  })

  it('is forgotten after so many others that the task cannot keep them all, but never while pending', () => {
    const story = working()
    story.tell(remind('r-0'), remind('gone', { ttlTurns: 1 }), startTurn(), endTurn(1))
    const clear = { type: 'clear-reminders', filter: { dedupeKey: 'k' } } as const
    for (let n = 1; n <= ACCEPTED_REMINDERS_KEPT; n++) {
      story.tell(remind(`r-${n}`, { dedupeKey: 'k' }), clear)
    }
    expect(story.task.reminded).toHaveLength(ACCEPTED_REMINDERS_KEPT)
    expect(typesOf(story.tell(remind('gone', { ttlTurns: 1 })))).toEqual(['reminder-injected'])
    expect(story.tell(remind('r-0'))).toEqual([])
  })

  it('is known to a sub-task that inherited it', () => {
    const story = createStory()
    story.tell({ ...submit({ reminders: [reminder('r-1', { ttlTurns: 1 })] }), run: run('run-1') })
    story.tell(startTurn(), endTurn(1))
    expect(story.tell(remind('r-1'))).toEqual([])
  })

  it('does not displace itself by its own dedupe key', () => {
    const story = working()
    story.tell(remind('r-1', { dedupeKey: 'k' }))
    expect(story.tell(remind('r-1', { dedupeKey: 'k' }))).toEqual([])
  })
})

describe('a dedupe key', () => {
  it('removes every pending reminder that has it: deduped first, then injected', () => {
    const story = createStory()
    // Two with the same key can only be inherited; one injection removes both.
    const twins = [reminder('a', { dedupeKey: 'k' }), reminder('b', { dedupeKey: 'k' })]
    story.tell(submit({ reminders: [...twins, reminder('c', { dedupeKey: 'other' })] }))
    const records = story.tell(remind('d', { dedupeKey: 'k' }))
    expect(typesOf(records)).toEqual(['reminder-deduped', 'reminder-injected'])
    expect(only(records, 'reminder-deduped')).toMatchObject({
      ids: ['a', 'b'],
      by: 'd',
      dedupeKey: 'k',
    })
    expect(pendingIds(story)).toEqual(['c', 'd'])
  })

  it('that nobody has is just kept', () => {
    const story = working()
    story.tell(remind('r-1'), remind('r-2', { dedupeKey: 'x' }))
    expect(typesOf(story.tell(remind('r-3', { dedupeKey: 'k' })))).toEqual(['reminder-injected'])
  })
})

describe('the limit', () => {
  it('refuses one more and drops nothing', () => {
    const story = working()
    story.tell(remind('r-1', {}, 2), remind('r-2', {}, 2))
    expect(story.refusal(remind('r-3', {}, 2))).toEqual({
      code: 'REMINDER_LIMIT',
      details: { taskId: 'task-1', limit: 2 },
    })
    expect(pendingIds(story)).toEqual(['r-1', 'r-2'])
  })

  it('counts what is left after deduplication', () => {
    const story = working()
    story.tell(remind('r-1', { dedupeKey: 'k' }, 1))
    story.tell(remind('r-2', { dedupeKey: 'k' }, 1))
    expect(pendingIds(story)).toEqual(['r-2'])
  })

  it('does not refuse a repeated reminder', () => {
    const story = working()
    story.tell(remind('r-1', {}, 1))
    expect(story.tell(remind('r-1', {}, 1))).toEqual([])
  })
})

describe('showing', () => {
  it('emits a reminder once, with the turn that showed it first', () => {
    const story = working()
    story.tell(remind('r-1', { firedAtTurn: 7 }))
    const first = only(story.tell(startTurn()), 'turn-started')
    expect(first).toMatchObject({ turn: 1, emitted: ['r-1'], reminders: [{ firedAtTurn: 1 }] })
    story.tell(endTurn(1))
    const second = only(story.tell(startTurn()), 'turn-started')
    expect(second).toMatchObject({ turn: 2, emitted: [], reminders: [{ id: 'r-1' }] })
    expect(second.reminders[0]?.firedAtTurn).toBe(1)
  })

  it('within a turn shows what arrived meanwhile, and nothing twice', () => {
    const story = working()
    story.tell(remind('r-1'), startTurn(), remind('r-2'))
    const shown = only(story.tell(show(['r-1', 'r-2'])), 'reminders-shown')
    expect(shown).toMatchObject({ turn: 1, emitted: ['r-2'], reminders: [{ id: 'r-2' }] })
    expect(story.tell(show(['r-1', 'r-2']))).toEqual([])
  })

  it('what is gone shows nothing', () => {
    const story = working()
    story.tell(startTurn())
    expect(story.tell(show(['r-9']))).toEqual([])
  })

  it('is progress of the run', () => {
    const story = working()
    story.tell(startTurn(), start('run-2', { from: run('run-1') }))
    expect(story.task.deaths).toBe(1)
    story.tell(remind('r-1'), { ...show(['r-1']), run: 'run-2' })
    expect(story.task.deaths).toBe(0)
  })
})

describe('the TTL', () => {
  it('is taken off when a turn that showed it completes, then told as expired', () => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 2 }), startTurn(), endTurn(1), startTurn())
    const records = story.tell(endTurn(2))
    expect(typesOf(records)).toEqual(['turn-ended', 'reminder-expired'])
    expect(only(records, 'reminder-expired')).toMatchObject({ ids: ['r-1'], reason: 'ttl' })
    expect(pendingIds(story)).toEqual([])
  })

  it('is not consumed before the turn its source saw', () => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 1, firedAtTurn: 3 }))
    for (const turn of [1, 2]) story.tell(startTurn(), endTurn(turn))
    expect(pendingIds(story)).toEqual(['r-1'])
    story.tell(startTurn(), endTurn(3))
    expect(pendingIds(story)).toEqual([])
  })

  it('costs nothing for a turn that began before the reminder came and did not show it', () => {
    const story = working()
    story.tell(startTurn(), remind('r-1', { ttlTurns: 1 }), endTurn(1))
    expect(pendingIds(story)).toEqual(['r-1'])
  })

  it('counts a turn that showed it while it ran', () => {
    const story = working()
    story.tell(startTurn(), remind('r-1', { ttlTurns: 1 }), show(['r-1']), endTurn(1))
    expect(pendingIds(story)).toEqual([])
  })

  it('costs nothing while the task is stopped', () => {
    const story = parked()
    story.tell(remind('r-1', { ttlTurns: 1 }))
    story.wait(1e9)
    story.tell(resume({ run: run('run-1') }))
    expect(pendingIds(story)).toEqual(['r-1'])
  })
})

describe('a turn that did not complete', () => {
  it.each(['skipped', 'failed'] as const)('because it was %s costs nothing', (outcome) => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 1 }), startTurn())
    expect(typesOf(story.tell(endTurn(1, 'run-1', outcome)))).toEqual(['turn-ended'])
    expect(pendingIds(story)).toEqual(['r-1'])
    story.tell(startTurn(), endTurn(2))
    expect(pendingIds(story)).toEqual([])
  })
})

describe('what a provider wants', () => {
  const atStart = (...wanted: readonly ProvidedReminder[]) =>
    startTurn('run-1', { provided: wanted, limit: 2 })

  it('when a turn starts is shown in that turn', () => {
    const records = working().tell(atStart(provided('idle', 'r-1')))
    expect(records).toMatchObject([
      { type: 'reminder-injected', reminder: { id: 'r-1' }, provider: 'idle' },
      { type: 'turn-started', emitted: ['r-1'], reminders: [{ id: 'r-1' }] },
    ])
  })

  it('when something is recorded comes in the same write, after what that ended', () => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 1 }), startTurn())
    const wanted = [provided('watcher', 'r-2')]
    const records = story.tell({ ...endTurn(1), provided: wanted, limit: 2 })
    expect(typesOf(records)).toEqual(['turn-ended', 'reminder-expired', 'reminder-injected'])
  })

  it('displaces what it wanted before', () => {
    const story = working()
    story.tell(atStart(provided('idle', 'r-1', { dedupeKey: 'k' })))
    const records = story.tell(atStart(provided('idle', 'r-2', { dedupeKey: 'k' })))
    expect(typesOf(records)).toEqual(['reminder-deduped', 'reminder-injected', 'turn-started'])
    expect(pendingIds(story)).toEqual(['r-2'])
  })

  it('is nothing new where it is pending already', () => {
    const story = working()
    story.tell(atStart(provided('resumed', 'r-1')))
    expect(typesOf(story.tell(atStart(provided('resumed', 'r-1'))))).toEqual(['turn-started'])
  })

  it('counts towards the limit, except for one turn alone', () => {
    const story = working()
    story.tell(remind('r-1'), remind('r-2'))
    story.tell(atStart(provided('a', 'r-3'), provided('b', 'r-4', { ttlTurns: 1 })))
    expect(pendingIds(story)).toEqual(['r-1', 'r-2', 'r-4'])
  })

  it('is not among the injections the task remembers', () => {
    const story = working()
    story.tell(atStart(provided('a', 'r-1')))
    expect(story.task.reminded).toEqual([])
  })

  it('of a stale run is refused with it', () => {
    const stale = startTurn('run-9', { provided: [provided('a', 'r-1')] })
    expect(working().refusal(stale).code).toBe('STALE_RUN')
  })
})

describe('compaction', () => {
  it('drops what is not to be preserved and tells it', () => {
    const story = working()
    story.tell(remind('r-1'), remind('r-2', { preserveOnCompact: true }), remind('r-3'))
    const records = story.tell(record({ type: 'compacted', key: 'c', transcript: [] }))
    expect(typesOf(records)).toEqual(['compacted', 'reminder-expired'])
    expect(only(records, 'reminder-expired')).toMatchObject({
      ids: ['r-1', 'r-3'],
      reason: 'compaction',
    })
    expect(pendingIds(story)).toEqual(['r-2'])
  })

  it('together with the end of a turn ends each reminder once', () => {
    const story = working()
    story.tell(remind('r-1', { ttlTurns: 1 }), remind('r-2'), startTurn())
    const records = story.tell({
      type: 'record',
      run: 'run-1',
      records: [
        { type: 'turn-ended', key: 't', turn: 1, transcript: [] },
        { type: 'compacted', key: 'c', transcript: [] },
      ],
    })
    expect(records).toMatchObject([
      { type: 'turn-ended' },
      { type: 'reminder-expired', ids: ['r-1'], reason: 'ttl' },
      { type: 'compacted' },
      { type: 'reminder-expired', ids: ['r-2'], reason: 'compaction' },
    ])
  })
})

describe('clearing', () => {
  const filled = (): Story => {
    const story = working()
    story.tell(
      remind('r-1', { tags: ['a', 'b'] }),
      remind('r-2', { tags: ['b'], dedupeKey: 'k' }),
      remind('r-3'),
    )
    return story
  }

  it.each([
    [{ id: 'r-1' }, ['r-1']],
    [{ tag: 'b' }, ['r-1', 'r-2']],
    [{ dedupeKey: 'k' }, ['r-2']],
    [{ tag: 'b', dedupeKey: 'k' }, ['r-2']],
    [{}, ['r-1', 'r-2', 'r-3']],
  ])('by %j expires %j', (filter, ids) => {
    const records = filled().tell({ type: 'clear-reminders', filter })
    expect(records).toMatchObject([{ type: 'reminder-expired', ids, reason: 'cleared' }])
  })

  it('what is not there writes nothing', () => {
    expect(filled().tell({ type: 'clear-reminders', filter: { tag: 'z' } })).toEqual([])
  })
})

describe('the end of the task', () => {
  it.each([complete(), fail(), cancel()])(
    'expires what is pending before its last record',
    (end) => {
      const story = working()
      story.tell(remind('r-1'), remind('r-2'))
      const records = story.tell(end)
      expect(records).toMatchObject([
        { type: 'reminder-expired', ids: ['r-1', 'r-2'], reason: 'task_ended' },
        {},
      ])
      expect(story.task.reminders).toEqual([])
    },
  )

  it('says nothing of reminders where none is pending', () => {
    expect(typesOf(working().tell(complete()))).toEqual(['completed'])
  })
})

describe('inherited reminders', () => {
  it('are pending from submission and first shown by the first turn', () => {
    const story = createStory()
    const copy = reminder('r-1', { inheritedFrom: 'task-0' })
    story.tell({ ...submit({ reminders: [copy] }), run: run('run-1') })
    expect(pendingIds(story)).toEqual(['r-1'])
    expect(only(story.tell(startTurn()), 'turn-started').emitted).toEqual(['r-1'])
  })
})
