import { describe, expect, it } from 'vitest'
import { pauseModes } from '../suspension.ts'
import {
  client,
  commitPause,
  complete,
  MINUTE,
  only,
  park,
  parked,
  pause,
  paused,
  policyPause,
  quiescing,
  resume,
  run,
  start,
  startTurn,
  step,
  submitted,
  typesOf,
  working,
} from '../test-support/story.ts'

describe('pausing a working task', () => {
  it('at a boundary commits with the request', () => {
    const story = working()
    expect(typesOf(story.tell(pause()))).toEqual(['pause-requested', 'paused'])
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      epoch: 1,
      suspension: {
        handle: 'suspend-1',
        epoch: 1,
        initiator: 'client',
        actor: client,
        mode: 'finish_step',
        requestedAt: story.now,
        pausedAt: story.now,
        pausedFrom: 'working',
      },
    })
    expect(story.task.run).toBeUndefined()
  })

  it('in the middle of something quiesces: still working, handle already valid', () => {
    const story = quiescing()
    expect(story.task).toMatchObject({ state: 'working', pausing: { handle: 'suspend-1' } })
    expect(story.task.suspension).toBeUndefined()
    expect(story.task.pausing?.pausedAt).toBeUndefined()
  })

  it('lets work in flight be recorded, then commits at the boundary', () => {
    const story = quiescing()
    story.wait(3_000)
    story.tell(step('in flight'))
    expect(typesOf(story.tell(commitPause()))).toEqual(['paused'])
    expect(story.task.suspension).toMatchObject({
      requestedAt: story.now - 3_000,
      pausedAt: story.now,
    })
    expect(story.refusal(step('after')).code).toBe('STALE_RUN')
  })

  it('keeps reason and conditions', () => {
    const conditions = { onEvent: 'x', since: 'now' } as const
    const story = paused({ reason: 'lunch', conditions, fireAt: 5 })
    expect(story.task.suspension).toMatchObject({ reason: 'lunch', conditions, fireAt: 5 })
  })

  it('counts the deadline from the commit, not from the request', () => {
    const story = quiescing({ conditions: { timeout: { durationMinutes: 0.5 } } })
    expect(story.task.pausing?.deadlineAt).toBeUndefined()
    story.wait(7_000)
    expect(only(story.tell(commitPause()), 'paused').deadlineAt).toBe(story.now + MINUTE / 2)
    expect(story.task.suspension?.deadlineAt).toBe(story.now + MINUTE / 2)
  })

  it('takes the next fire of a schedule from the commit', () => {
    const story = quiescing({ fireAt: 1_000_500 })
    story.tell({ type: 'commit-pause', run: 'run-1', fireAt: 1_000_900 })
    expect(story.task.suspension?.fireAt).toBe(1_000_900)
  })

  it('keeps the fire time of the request where the commit brings none', () => {
    const story = quiescing({ fireAt: 1_000_500 })
    story.tell(commitPause())
    expect(story.task.suspension?.fireAt).toBe(1_000_500)
  })
})

describe('while a task quiesces', () => {
  it('no turn starts', () => {
    const story = quiescing()
    expect(story.tell(startTurn())).toEqual([])
    expect(story.task.turn).toBe(0)
  })

  it('a park takes effect after the resume', () => {
    const story = quiescing()
    expect(story.tell(park('suspend-2'))).toEqual([])
    story.tell(commitPause(), resume({ run: run('run-2') }))
    expect(typesOf(story.tell(park('suspend-2', { run: 'run-2' })))).toEqual(['parked'])
    expect(story.task.epoch).toBe(2)
  })

  it('a resume withdraws the pause, and the run goes on', () => {
    const story = quiescing()
    expect(typesOf(story.tell(resume({ handle: 'suspend-1' })))).toEqual(['pause-withdrawn'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-1'), epoch: 0 })
    expect(story.task.pausing).toBeUndefined()
    expect(story.task.resumes).toEqual([
      {
        handle: 'suspend-1',
        cause: 'explicit_resume',
        resumedAt: story.now,
        hadResumeInput: false,
        continueTranscript: true,
        previousState: 'working',
        state: 'working',
      },
    ])
    expect(typesOf(story.tell(startTurn()))).toEqual(['turn-started'])
  })

  it('a withdrawn pause is not committed by a run that reaches the boundary later', () => {
    const story = quiescing()
    story.tell(resume())
    expect(story.tell(commitPause())).toEqual([])
    expect(story.task.state).toBe('working')
  })

  it('a withdrawn handle is not valid for the next suspension', () => {
    const story = quiescing()
    story.tell(resume(), pause('suspend-2'))
    expect(story.refusal(resume({ handle: 'suspend-1' })).code).toBe('RESUME_HANDLE_MISMATCH')
  })
})

describe('pausing again', () => {
  it('a paused task writes nothing and keeps handle, reason and time', () => {
    const story = paused({ reason: 'first' })
    const { suspension } = story.task
    story.wait(1_000)
    const again = pause('suspend-2', { reason: 'second', mode: 'interrupt_immediate' })
    expect(story.tell(again)).toEqual([])
    expect(story.task.suspension).toEqual(suspension)
  })

  const pairs = pauseModes.flatMap((before, weak) =>
    pauseModes.map((after, strong) => [before, after, strong > weak] as const),
  )
  it.each(pairs)('a quiescing task (%s) with %s upgrades it: %s', (before, after, upgrades) => {
    const story = quiescing({ mode: before, reason: 'first' })
    const again = pause('suspend-2', { mode: after, reason: 'second', atBoundary: false })
    expect(typesOf(story.tell(again))).toEqual(upgrades ? ['pause-upgraded'] : [])
    expect(story.task.pausing).toMatchObject({
      handle: 'suspend-1',
      reason: 'first',
      mode: upgrades ? after : before,
    })
  })

  it('with a stronger mode commits where that mode is at its boundary', () => {
    const story = quiescing({ mode: 'wait_for_completion' })
    const again = pause('suspend-2', { mode: 'interrupt_immediate' })
    expect(typesOf(story.tell(again))).toEqual(['pause-upgraded', 'paused'])
    expect(story.task.suspension).toMatchObject({
      handle: 'suspend-1',
      mode: 'interrupt_immediate',
    })
  })

  it.each([
    ['paused', paused],
    ['quiescing', quiescing],
  ])('a %s task is refused in the Bindu dialect', (_, begin) => {
    const again = pause('suspend-2', { refuseRepeat: true })
    expect(begin().refusal(again).code).toBe('TASK_NOT_PAUSABLE')
  })
})

describe('pausing a submitted task', () => {
  it('goes through working in one commit, without a run, and remembers where it was', () => {
    const story = submitted()
    const records = story.tell(pause('suspend-1', { atBoundary: false }))
    expect(typesOf(records)).toEqual(['pause-requested', 'paused'])
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: { pausedFrom: 'submitted' },
    })
    expect(story.task.run).toBeUndefined()
    expect(story.log.some((record) => record.type === 'started')).toBe(false)
  })

  it('is undone by a resume, which starts it', () => {
    const story = submitted()
    story.tell(pause(), resume({ run: run('run-1') }))
    expect(story.task).toMatchObject({ state: 'working', run: run('run-1') })
  })
})

describe('pausing is refused', () => {
  it('for a parked task, which says so', () => {
    expect(parked().refusal(pause('suspend-2'))).toEqual({
      code: 'TASK_NOT_PAUSABLE',
      details: {
        taskId: 'task-1',
        state: 'paused-by-agent',
        why: 'it is parked; hold it instead',
      },
    })
  })

  it('for a task that has ended, with its final state', () => {
    const story = working()
    story.tell(complete())
    expect(story.refusal(pause()).details).toMatchObject({ state: 'completed' })
  })
})

describe('a park that a worker outside the process asks for', () => {
  const parks = { parks: { summary: 'CI runs' }, actor: { kind: 'agent', id: 'worker' } } as const

  it('commits at the next boundary, and the stop is the agent’s', () => {
    const story = working()
    story.tell(pause('suspend-1', { ...parks, atBoundary: false }))
    expect(story.task).toMatchObject({ state: 'working', pausing: { initiator: 'agent' } })
    story.tell(commitPause())
    expect(story.task).toMatchObject({
      state: 'paused-by-agent',
      epoch: 1,
      suspension: { initiator: 'agent', actor: parks.actor, summary: 'CI runs' },
    })
  })

  it.each([
    ['submitted', submitted],
    ['quiescing', quiescing],
    ['paused', paused],
    ['parked', parked],
  ])('is refused by a %s task', (_, begin) => {
    expect(begin().refusal(pause('suspend-2', parks)).code).toBe('TASK_NOT_PAUSABLE')
  })

  it('cannot be taken over by a client’s pause while it quiesces', () => {
    const story = working()
    story.tell(pause('suspend-1', { ...parks, atBoundary: false }))
    expect(story.refusal(pause('suspend-2')).details).toMatchObject({
      why: 'it is parked; hold it instead',
    })
  })
})

describe('a pause by policy', () => {
  it.each(['agent-unknown', 'journal-limit', 'code-changed', 'crash-loop'] as const)(
    'stops a working task at once, reason %s',
    (reason) => {
      const story = working()
      expect(typesOf(story.tell(policyPause({ reason })))).toEqual(['pause-requested', 'paused'])
      expect(story.task).toMatchObject({
        state: 'paused-by-client',
        suspension: {
          initiator: 'client',
          actor: { kind: 'policy', id: reason },
          mode: 'interrupt_immediate',
          requestedAt: story.now,
          reason,
          summary: 'No agent of that name is registered',
        },
      })
      expect(story.refusal(step('s')).code).toBe('STALE_RUN')
    },
  )

  it('waits for the boundary of a run that is in the middle of something', () => {
    const story = working()
    expect(typesOf(story.tell(policyPause({ atBoundary: false })))).toEqual(['pause-requested'])
    expect(story.task).toMatchObject({ state: 'working', pausing: { actor: { kind: 'policy' } } })
    story.tell(step('in flight'), commitPause())
    expect(story.task.suspension?.reason).toBe('agent-unknown')
  })

  it('stops a submitted task, which has nothing to wait for', () => {
    const story = submitted()
    story.tell(policyPause({ atBoundary: false, from: undefined }))
    expect(story.task.state).toBe('paused-by-client')
    expect(story.task.suspension).toMatchObject({
      pausedFrom: 'submitted',
      reason: 'agent-unknown',
    })
  })

  it('keeps the handle of a pause that was under way', () => {
    const story = quiescing()
    story.tell(policyPause())
    expect(story.task.suspension).toMatchObject({ handle: 'suspend-1', reason: 'agent-unknown' })
    expect(story.task.epoch).toBe(1)
  })

  it('asked for by a run that lost the task writes nothing', () => {
    const story = working()
    story.tell(start('run-2', { from: run('run-1') }))
    expect(story.refusal(policyPause({ run: 'run-1' })).code).toBe('STALE_RUN')
    expect(typesOf(story.tell(policyPause({ run: 'run-2' })))).toContain('paused')
  })

  it('does nothing to a task that is stopped already', () => {
    expect(paused().tell(policyPause())).toEqual([])
    expect(parked().tell(policyPause())).toEqual([])
  })

  it('for changed code voids the entry when somebody resumes', () => {
    const story = working()
    story.tell(policyPause({ reason: 'code-changed', mismatch: 'park:wait:1', run: 'run-1' }))
    const records = story.tell(resume({ run: run('run-2') }))
    expect(typesOf(records)).toEqual(['resumed', 'voided'])
    expect(story.task.journal.voided).toEqual(['park:wait:1'])
    expect(story.task.run).toEqual(run('run-2'))
  })

  it('for the journal limit starts a new count when somebody resumes', () => {
    const story = working()
    story.tell(policyPause({ reason: 'journal-limit' }))
    expect(story.task.journal.countFrom).toBe(0)
    const [resumed] = story.tell(resume())
    expect(story.task.journal.countFrom).toBe(resumed?.seq)
  })
})
