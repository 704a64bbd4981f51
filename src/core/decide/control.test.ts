import { describe, expect, it } from 'vitest'
import {
  asked,
  cancel,
  commitPause,
  complete,
  createStory,
  due,
  happen,
  hold,
  lift,
  MINUTE,
  only,
  operator,
  parked,
  pause,
  paused,
  policyPause,
  quiescing,
  resume,
  run,
  type Story,
  send,
  start,
  step,
  submit,
  submitted,
  typesOf,
  working,
} from '../test-support/story.ts'

const held = (story: Story): Story => {
  story.tell(hold('h-1'))
  return story
}

describe('a hold on a working task', () => {
  it('interrupts it immediately, in the name of the operator', () => {
    const story = working()
    const records = story.tell(hold('h-1', { atBoundary: false }))
    expect(typesOf(records)).toEqual(['held', 'pause-requested'])
    expect(story.task).toMatchObject({
      state: 'working',
      holds: ['h-1'],
      pausing: {
        handle: 'suspend-h-1',
        epoch: 1,
        initiator: 'client',
        mode: 'interrupt_immediate',
        actor: operator,
        reason: 'incident',
        requestedAt: story.now,
        pausedFrom: 'working',
        byHold: true,
      },
    })
    expect(typesOf(story.tell(commitPause()))).toEqual(['paused'])
    expect(story.task.state).toBe('paused-by-client')
  })

  it('at a boundary stops it at once', () => {
    const story = working()
    expect(typesOf(story.tell(hold('h-1')))).toEqual(['held', 'pause-requested', 'paused'])
    expect(story.refusal(step('s')).code).toBe('STALE_RUN')
  })

  it('is lifted by going on, cause external_event', () => {
    const story = held(working())
    expect(typesOf(story.tell(lift('h-1', 'run-2')))).toEqual(['lifted', 'resumed'])
    expect(story.task).toMatchObject({
      state: 'working',
      holds: [],
      run: run('run-2'),
      wake: { cause: 'external_event', resumedBy: operator, continueTranscript: true },
    })
  })

  it('that is lifted before it stopped anything leaves the run alone', () => {
    const story = working()
    story.tell(hold('h-1', { atBoundary: false }))
    expect(typesOf(story.tell(lift('h-1', 'run-2')))).toEqual(['lifted', 'pause-withdrawn'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-1') })
    expect(story.task.pausing).toBeUndefined()
  })

  it('survives a crash: no agent code runs before it is lifted', () => {
    const story = working()
    story.tell(hold('h-1', { atBoundary: false }))
    expect(typesOf(story.tell(start('run-2', { from: run('run-1') })))).toEqual(['paused'])
    expect(story.tell(start('run-3'))).toEqual([])
    story.tell(lift('h-1', 'run-4'))
    expect(story.task).toMatchObject({ state: 'working', run: run('run-4') })
  })
})

describe('a hold on a quiescing task', () => {
  it('makes the pause immediate and leaves it the client’s', () => {
    const story = quiescing({ mode: 'wait_for_completion' })
    const records = story.tell(hold('h-1', { atBoundary: false }))
    expect(typesOf(records)).toEqual(['held', 'pause-upgraded'])
    expect(story.task.pausing).toMatchObject({
      handle: 'suspend-1',
      mode: 'interrupt_immediate',
    })
    story.tell(commitPause())
    expect(typesOf(story.tell(lift('h-1')))).toEqual(['lifted'])
    expect(story.task.state).toBe('paused-by-client')
  })

  it('at a boundary commits it', () => {
    const story = quiescing()
    expect(typesOf(story.tell(hold('h-1')))).toEqual(['held', 'pause-upgraded', 'paused'])
  })

  it('keeps a client from withdrawing it', () => {
    const story = quiescing()
    story.tell(hold('h-1', { atBoundary: false }))
    expect(story.refusal(resume()).code).toBe('TASK_HELD')
  })
})

describe('a held task', () => {
  it.each([
    ['working', working],
    ['paused', paused],
    ['parked', parked],
  ])('(%s) refuses to be resumed and names the hold', (_, begin) => {
    expect(held(begin()).refusal(resume())).toEqual({
      code: 'TASK_HELD',
      details: { taskId: 'task-1', holdIds: ['h-1'] },
    })
  })

  it('(submitted) does not start before the hold is lifted', () => {
    const story = submitted()
    expect(typesOf(story.tell(hold('h-1')))).toEqual(['held'])
    expect(story.tell(start())).toEqual([])
    expect(typesOf(story.tell(lift('h-1')))).toEqual(['lifted'])
    expect(typesOf(story.tell(start()))).toEqual(['started'])
  })

  it('(created later) is held from the start', () => {
    const story = createStory()
    story.tell({ ...submit(), holds: [hold('h-1').hold] })
    expect(story.task).toMatchObject({ state: 'submitted', holds: ['h-1'] })
  })

  it.each([
    ['paused', paused],
    ['parked', parked],
    ['asked', asked],
  ])('(%s) is pinned, and lifting alone does not move it', (_, begin) => {
    const story = begin()
    const { state, suspension, question } = story.task
    expect(typesOf(story.tell(hold('h-1')))).toEqual(['held'])
    expect(typesOf(story.tell(lift('h-1', 'run-2')))).toEqual(['lifted'])
    expect(story.task).toMatchObject({ state, holds: [] })
    expect(story.task.suspension).toEqual(suspension)
    expect(story.task.question).toEqual(question)
  })

  it('can be cancelled', () => {
    const story = held(parked())
    story.tell(cancel())
    expect(story.task).toMatchObject({ state: 'canceled', holds: [] })
  })

  it('stopped by policy stays stopped when the hold is lifted', () => {
    const story = working()
    story.tell(hold('h-1', { atBoundary: false }), policyPause(), lift('h-1', 'run-2'))
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: { reason: 'agent-unknown' },
    })
  })
})

describe('holding', () => {
  it('again with the same hold writes nothing', () => {
    for (const story of [held(working()), held(parked()), held(submitted())]) {
      expect(story.tell(hold('h-1'))).toEqual([])
    }
  })

  it('a task that has ended writes nothing', () => {
    const story = working()
    story.tell(complete())
    expect(story.tell(hold('h-1'))).toEqual([])
  })

  it('twice needs lifting twice', () => {
    const story = held(working())
    expect(typesOf(story.tell(hold('h-2')))).toEqual(['held'])
    expect(typesOf(story.tell(lift('h-1', 'run-2')))).toEqual(['lifted'])
    expect(story.task.state).toBe('paused-by-client')
    expect(typesOf(story.tell(lift('h-2', 'run-2')))).toEqual(['lifted', 'resumed'])
  })

  it('twice before the boundary withdraws with the last lift', () => {
    const story = working()
    story.tell(hold('h-1', { atBoundary: false }), hold('h-2', { atBoundary: false }))
    story.tell(lift('h-2'))
    expect(story.task.pausing).toBeDefined()
    story.tell(lift('h-1'))
    expect(story.task.pausing).toBeUndefined()
  })
})

describe('lifting', () => {
  it('a hold the task is not under writes nothing', () => {
    expect(paused().tell(lift('h-1', 'run-2'))).toEqual([])
    expect(held(paused()).tell(lift('h-2', 'run-2'))).toEqual([])
  })

  it('twice writes nothing the second time', () => {
    const story = held(working())
    story.tell(lift('h-1', 'run-2'))
    expect(story.tell(lift('h-1', 'run-3'))).toEqual([])
    expect(story.task.run).toEqual(run('run-2'))
  })
})

describe('a condition that fires under a hold', () => {
  const conditions = {
    onEvent: 'built',
    timeout: { durationMinutes: 1, onTimeout: 'resume_with_input', input: 'late' },
  } as const

  it('is kept and acts when the hold is lifted', () => {
    const story = held(parked({ conditions }))
    expect(typesOf(story.tell(happen('built', 11)))).toEqual(['deferred'])
    expect(story.task).toMatchObject({ state: 'paused-by-agent', consumed: [] })
    expect(typesOf(story.tell(lift('h-1', 'run-2')))).toEqual(['lifted', 'resumed'])
    expect(story.task).toMatchObject({
      state: 'working',
      run: run('run-2'),
      consumed: [11],
      wake: { cause: 'condition_fired', event: { id: 'event-11' } },
    })
    expect(story.task.deferred).toBeUndefined()
  })

  it('is the first one: what fires later does not displace it', () => {
    const story = held(parked({ conditions }))
    story.tell(happen('built', 11))
    story.wait(MINUTE)
    expect(story.tell(due())).toEqual([])
    expect(story.tell(happen('built', 12))).toEqual([])
    story.tell(lift('h-1'))
    expect(story.task).toMatchObject({ wake: { cause: 'condition_fired' }, consumed: [11] })
  })

  it('may be the deadline', () => {
    const story = held(parked({ conditions }))
    story.wait(MINUTE)
    expect(typesOf(story.tell(due()))).toEqual(['deferred'])
    story.tell(lift('h-1'))
    expect(story.task.wake).toMatchObject({ cause: 'timeout', input: 'late' })
  })

  it('may be a schedule', () => {
    const trigger = { schedule: { cron: '* * * * *' } }
    const story = held(parked({ conditions: { trigger }, fireAt: 5 }))
    expect(typesOf(story.tell(due()))).toEqual(['deferred'])
    story.tell(lift('h-1', 'run-2'))
    expect(story.task).toMatchObject({
      wake: { event: { type: 'lull.schedule' } },
      run: run('run-2'),
    })
  })

  it('waits for the last of several holds', () => {
    const story = held(parked({ conditions }))
    story.tell(hold('h-2'), happen('built', 11), lift('h-1', 'run-2'))
    expect(story.task.state).toBe('paused-by-agent')
    story.tell(lift('h-2', 'run-3'))
    expect(story.task.run).toEqual(run('run-3'))
  })

  it('ends the task at the lift where the deadline says fail', () => {
    const timeout = { durationMinutes: 1, onTimeout: 'fail' } as const
    const story = held(parked({ conditions: { timeout } }))
    story.wait(MINUTE)
    expect(typesOf(story.tell(due()))).toEqual(['deferred'])
    expect(story.task.state).toBe('paused-by-agent')
    expect(typesOf(story.tell(lift('h-1')))).toEqual(['lifted', 'failed'])
    expect(story.task.failure?.message).toContain('deadline')
  })

  it('is forgotten when the task is cancelled', () => {
    const story = held(parked({ conditions }))
    story.tell(happen('built', 11), cancel())
    expect(story.task.deferred).toBeUndefined()
  })
})

describe('an answer that arrives under a hold', () => {
  it('is kept and acts when the hold is lifted', () => {
    const story = held(asked())
    expect(typesOf(story.tell(send('m-1', { run: run('run-8') })))).toEqual(['deferred'])
    expect(story.task.state).toBe('input-required')
    const records = story.tell(lift('h-1', 'run-2'))
    expect(typesOf(records)).toEqual(['lifted', 'answered'])
    expect(only(records, 'answered').message.messageId).toBe('m-1')
    expect(story.task).toMatchObject({ state: 'working', run: run('run-2') })
    expect(story.task.deferred).toBeUndefined()
  })

  const consent = { consentId: 'c-1', digest: 'd', operation: {}, expiresAt: 1_000_000 + MINUTE }
  const consentAsked = (): Story => held(asked({ state: 'user-consent-required', consent }))

  it('keeps its decision', () => {
    const story = consentAsked()
    story.tell(send('m-1', { consentId: 'c-1', decision: 'denied' }))
    expect(only(story.tell(lift('h-1')), 'answered').decision).toBe('denied')
  })

  it('in words nobody can decide on asks again, held or not', () => {
    const story = consentAsked()
    expect(typesOf(story.tell(send('hmm')))).toEqual(['asked-again'])
    expect(story.task.deferred).toBeUndefined()
  })

  it('after another one waits for the next turn', () => {
    const story = held(asked())
    story.tell(send('m-1'))
    expect(typesOf(story.tell(send('m-2')))).toEqual(['message'])
    story.tell(lift('h-1', 'run-2'))
    expect(story.task.queued.map((entry) => entry.messageId)).toEqual(['m-0', 'm-2'])
  })

  it('after another one is not lost, whatever it says and however late it is', () => {
    const story = consentAsked()
    story.tell(send('m-1', { consentId: 'c-1', decision: 'granted' }))
    expect(typesOf(story.tell(send('hmm')))).toEqual(['message'])
    story.wait(MINUTE)
    expect(typesOf(story.tell(send('m-3')))).toEqual(['message'])
    story.tell(lift('h-1', 'run-2'))
    expect(story.task.queued.map((entry) => entry.messageId)).toEqual(['m-0', 'hmm', 'm-3'])
  })

  it('in time counts, though the question expires before the lift', () => {
    const story = consentAsked()
    story.tell(send('m-1', { consentId: 'c-1', decision: 'granted' }))
    story.wait(MINUTE)
    expect(story.tell(due())).toEqual([])
    story.tell(lift('h-1'))
    expect(story.task.state).toBe('working')
  })

  it('too late does not: the expiry acts at the lift', () => {
    const story = consentAsked()
    story.wait(MINUTE)
    expect(typesOf(story.tell(due()))).toEqual(['deferred'])
    expect(typesOf(story.tell(send('m-1', { decision: 'granted' })))).toEqual(['message'])
    expect(typesOf(story.tell(lift('h-1')))).toEqual(['lifted', 'failed'])
    expect(story.task.failure?.name).toBe('Timeout')
  })

  it('cannot be overtaken by a pause in the Bindu dialect', () => {
    const story = held(asked())
    story.tell(send('m-1'))
    const over = pause('suspend-1', { evenInputRequired: true })
    expect(story.refusal(over).code).toBe('TASK_NOT_PAUSABLE')
  })
})

describe('a pause of what a hold stopped', () => {
  it('keeps it paused, under the same handle, when the hold is lifted', () => {
    const story = held(working())
    const handle = story.task.suspension?.handle
    expect(typesOf(story.tell(pause('suspend-2', { reason: 'mine too' })))).toEqual(['pause-kept'])
    expect(typesOf(story.tell(lift('h-1')))).toEqual(['lifted'])
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: { handle, reason: 'mine too' },
    })
    story.tell(resume())
    expect(story.task.state).toBe('working')
  })

  it('is written once: a second pause finds it paused already', () => {
    const story = held(working())
    story.tell(pause())
    expect(story.tell(pause())).toEqual([])
  })
})
