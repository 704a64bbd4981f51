import { describe, expect, it } from 'vitest'
import { RESUME_MEMORY } from '../task.ts'
import {
  cancel,
  client,
  complete,
  due,
  happen,
  MINUTE,
  only,
  operator,
  park,
  parked,
  pause,
  paused,
  quiescing,
  resume,
  run,
  type Story,
  typesOf,
  working,
} from '../test-support/story.ts'

describe('resuming', () => {
  it.each([
    ['paused', paused],
    ['parked', parked],
  ])('a %s task goes on working under the token of its new run', (_, begin) => {
    const story = begin()
    const before = story.task.state
    expect(typesOf(story.tell(resume({ run: run('run-2') })))).toEqual(['resumed'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-2') })
    expect(story.task.suspension).toBeUndefined()
    expect(story.task.resumes).toEqual([
      {
        handle: 'suspend-1',
        cause: 'explicit_resume',
        resumedAt: story.now,
        hadResumeInput: false,
        continueTranscript: true,
        previousState: before,
        state: 'working',
      },
    ])
  })

  it('without a run leaves the task to whoever takes it next', () => {
    const story = paused()
    story.tell(resume())
    expect(story.task.state).toBe('working')
    expect(story.task.run).toBeUndefined()
  })

  it('tells the agent how its stop ended', () => {
    const story = paused({ reason: 'lunch' })
    story.wait(MINUTE)
    story.tell(resume({ actor: operator, input: { go: 'on' }, continueTranscript: false }))
    expect(story.task.wake).toEqual({
      handle: 'suspend-1',
      epoch: 1,
      cause: 'explicit_resume',
      input: { go: 'on' },
      continueTranscript: false,
      reason: 'lunch',
      stoppedBy: client,
      resumedBy: operator,
      stoppedAt: story.now - MINUTE,
      resumedAt: story.now,
      pausedMs: MINUTE,
    })
  })

  it('keeps its input out of the history', () => {
    const story = parked()
    const { history, queued } = story.task
    story.tell(resume({ input: 'secret' }))
    expect(story.task).toMatchObject({ history, queued })
  })

  it.each([
    [null, false],
    ['x', true],
    [false, true],
    [0, true],
    ['', true],
  ])('with input %j: hadResumeInput is %s', (input, had) => {
    const story = parked()
    story.tell(resume({ input }))
    expect(story.task.resumes.at(-1)?.hadResumeInput).toBe(had)
  })

  it('from outside without a declared condition says external_event', () => {
    const story = parked()
    story.tell(resume({ cause: 'external_event' }))
    expect(story.task.wake?.cause).toBe('external_event')
  })
})

describe('the handle', () => {
  it('of the current suspension resumes it', () => {
    expect(typesOf(parked().tell(resume({ handle: 'suspend-1' })))).toEqual(['resumed'])
  })

  it('of nobody is refused', () => {
    expect(parked().refusal(resume({ handle: 'suspend-9' }))).toEqual({
      code: 'RESUME_HANDLE_MISMATCH',
      details: { taskId: 'task-1', handle: 'suspend-9' },
    })
  })

  it('of an earlier suspension of the same task is refused', () => {
    const story = parked()
    story.tell(resume({ run: run('run-2') }), park('suspend-2', { run: 'run-2' }))
    expect(story.refusal(resume({ handle: 'suspend-1' })).code).toBe('RESUME_HANDLE_MISMATCH')
    expect(typesOf(story.tell(resume({ handle: 'suspend-2' })))).toEqual(['resumed'])
  })

  it('may be left out, unless the server requires it', () => {
    const story = parked()
    expect(story.refusal(resume({ requireHandle: true }))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'handle' },
    })
    const withHandle = resume({ requireHandle: true, handle: 'suspend-1' })
    expect(typesOf(story.tell(withHandle))).toEqual(['resumed'])
  })

  it('is looked at after the state', () => {
    expect(working().refusal(resume({ handle: 'suspend-9' })).code).toBe('TASK_NOT_PAUSED')
    expect(working().refusal(resume({ requireHandle: true })).code).toBe('TASK_NOT_PAUSED')
  })

  it('resumes a task that still quiesces', () => {
    const story = quiescing()
    expect(story.refusal(resume({ handle: 'suspend-9' })).code).toBe('RESUME_HANDLE_MISMATCH')
    expect(typesOf(story.tell(resume({ handle: 'suspend-1' })))).toEqual(['pause-withdrawn'])
  })
})

describe('of several that resume', () => {
  const waiting = (): Story =>
    parked({
      conditions: { onEvent: 'built', timeout: { durationMinutes: 1 } },
    })
  const winners: readonly (readonly [string, string, (story: Story) => void])[] = [
    ['a resume', 'explicit_resume', (story) => story.tell(resume())],
    ['an event', 'condition_fired', (story) => story.tell(happen('built', 11))],
    [
      'the deadline',
      'timeout',
      (story) => {
        story.wait(MINUTE)
        story.tell(due())
      },
    ],
  ]

  it.each(winners)('%s wins alone, and later resumes are told', (_, cause, win) => {
    const story = waiting()
    win(story)
    const resumedAt = story.now
    story.wait(MINUTE)
    const details = { taskId: 'task-1', state: 'working', cause, resumedAt }
    expect(story.refusal(resume())).toEqual({ code: 'TASK_NOT_PAUSED', details })
    expect(story.refusal(resume({ handle: 'suspend-1' })).details).toEqual(details)
    expect(story.tell(happen('built', 12))).toEqual([])
    expect(story.tell(due())).toEqual([])
    expect(story.log.filter((record) => record.type === 'resumed')).toHaveLength(1)
  })

  it('none was first where a cancel ended the suspension', () => {
    const story = paused()
    story.tell(resume({ run: run('run-2') }), pause('suspend-2'), cancel())
    expect(story.refusal(resume({ handle: 'suspend-2' }))).toEqual({
      code: 'TASK_NOT_PAUSED',
      details: { taskId: 'task-1', state: 'canceled' },
    })
  })

  it('none was first where nobody ever paused', () => {
    expect(working().refusal(resume()).details).toEqual({ taskId: 'task-1', state: 'working' })
  })
})

describe('a resume with an idempotency key', () => {
  const keyed = resume({ idempotencyKey: 'key-1', run: run('run-2'), input: 7 })

  it('repeated gets the first answer again and writes nothing', () => {
    const story = parked()
    story.tell(keyed)
    const answer = story.task.resumes.find((known) => known.idempotencyKey === 'key-1')
    story.wait(MINUTE)
    expect(story.tell(keyed)).toEqual([])
    expect(story.task.resumes).toEqual([answer])
    expect(answer).toMatchObject({ cause: 'explicit_resume', hadResumeInput: true })
  })

  it('repeated does not resume a later suspension', () => {
    const story = parked()
    story.tell(keyed, park('suspend-2', { run: 'run-2' }))
    expect(story.tell(keyed)).toEqual([])
    expect(story.task.state).toBe('paused-by-agent')
  })

  it('repeated after the task ended gets the first answer again', () => {
    const story = parked()
    story.tell(keyed, complete('run-2'))
    expect(story.tell(keyed)).toEqual([])
  })

  it('repeated after it withdrew a pause gets the first answer again', () => {
    const story = quiescing()
    story.tell(keyed)
    expect(story.tell(keyed)).toEqual([])
    expect(story.task.resumes).toMatchObject([{ idempotencyKey: 'key-1', state: 'working' }])
  })

  it('of another caller is another resume', () => {
    const story = parked()
    story.tell(keyed)
    expect(story.refusal(resume({ idempotencyKey: 'key-2' })).code).toBe('TASK_NOT_PAUSED')
  })
})

describe('the memory of resumes', () => {
  it('keeps the latest and is bounded', () => {
    const story = working()
    for (let n = 1; n <= RESUME_MEMORY + 3; n++) {
      story.tell(pause(`suspend-${n}`), resume({ run: run('run-1') }))
    }
    expect(story.task.resumes).toHaveLength(RESUME_MEMORY)
    expect(story.task.resumes.at(-1)?.handle).toBe(`suspend-${RESUME_MEMORY + 3}`)
    expect(story.task.epoch).toBe(RESUME_MEMORY + 3)
  })

  it('does not remember a refused resume', () => {
    const story = parked()
    story.refusal(resume({ handle: 'suspend-9' }))
    expect(story.task.resumes).toEqual([])
    expect(only(story.tell(resume()), 'resumed').handle).toBe('suspend-1')
  })
})
