import { describe, expect, it } from 'vitest'
import type { Question } from '../records.ts'
import {
  ask,
  asked,
  client,
  due,
  hold,
  lift,
  message,
  only,
  park,
  pause,
  resume,
  run,
  send,
  typesOf,
  working,
} from '../test-support/story.ts'

const consent = { consentId: 'consent-1', digest: 'd', operation: { push: 'main' } }
const consentQuestion: Partial<Question> = { state: 'user-consent-required', consent }

describe('a question', () => {
  it.each(['input-required', 'auth-required', 'user-consent-required'] as const)(
    'stops the task in %s and its run is over',
    (state) => {
      const story = asked({ state })
      expect(story.task).toMatchObject({ state, question: { key: 'ask', state } })
      expect(story.task.statusMessage).toEqual(message('question'))
      expect(story.task.run).toBeUndefined()
      expect(story.refusal(park()).code).toBe('STALE_RUN')
    },
  )

  it('is answered by the next message, under the token of the run that goes on', () => {
    const story = asked()
    const records = story.tell(send('m-1', { run: run('run-2') }))
    expect(typesOf(records)).toEqual(['answered'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-2') })
    expect(story.task.question).toBeUndefined()
    expect(story.task.history.map((entry) => entry.messageId)).toEqual(['m-0', 'question', 'm-1'])
  })

  it('is answered once: what comes later is an ordinary message', () => {
    const story = asked()
    story.tell(send('m-1'))
    expect(typesOf(story.tell(send('m-2')))).toEqual(['message'])
  })

  it('does not put its answer into the queue of the next turn', () => {
    const story = asked()
    story.tell(send('m-1'))
    expect(story.task.queued.map((entry) => entry.messageId)).toEqual(['m-0'])
  })

  it('cannot be resumed', () => {
    expect(asked().refusal(resume()).code).toBe('TASK_NOT_PAUSED')
  })
})

describe('the expiry of a question', () => {
  it('fails the task and says why', () => {
    const story = asked({ expiresAt: 1_000_000 + 500 })
    story.wait(500)
    const records = story.tell(due())
    expect(typesOf(records)).toEqual(['failed'])
    expect(only(records, 'failed').failure).toEqual({
      name: 'Timeout',
      message: 'The question expired before it was answered',
    })
    expect(story.task.state).toBe('failed')
  })

  it('is not a moment too early', () => {
    const story = asked({ expiresAt: 1_000_000 + 500 })
    story.wait(499)
    expect(story.tell(due())).toEqual([])
  })

  it('counts also where no timer saw it: a late answer does not go through', () => {
    const story = asked({ expiresAt: 1_000_000 + 500 })
    story.wait(500)
    expect(typesOf(story.tell(send('m-1')))).toEqual(['failed'])
  })

  it('is the expiry of the consent where the question has none of its own', () => {
    const expiring = { ...consent, expiresAt: 1_000_000 + 500 }
    const story = asked({ ...consentQuestion, consent: expiring })
    story.wait(500)
    const granted = send('m-1', { consentId: 'consent-1', decision: 'granted' })
    expect(typesOf(story.tell(granted))).toEqual(['failed'])
  })

  it('never comes for a question without one', () => {
    const story = asked()
    story.wait(1e12)
    expect(story.tell(due())).toEqual([])
  })
})

describe('consent', () => {
  it.each(['granted', 'denied'] as const)('that is %s goes to the run', (decision) => {
    const story = asked(consentQuestion)
    const records = story.tell(send('m-1', { consentId: 'consent-1', decision }))
    expect(only(records, 'answered').decision).toBe(decision)
    expect(story.task.state).toBe('working')
  })

  it('may be decided from words, without an id', () => {
    const story = asked(consentQuestion)
    const records = story.tell(send('m-1', { decision: 'granted' }))
    expect(only(records, 'answered').decision).toBe('granted')
  })

  it('is asked for again after words nobody can decide on', () => {
    const story = asked(consentQuestion)
    expect(typesOf(story.tell(send('hmm')))).toEqual(['asked-again'])
    expect(story.task).toMatchObject({ state: 'user-consent-required', question: { consent } })
    expect(story.task.statusMessage).toEqual(message('question'))
    expect(story.task.history.at(-1)?.messageId).toBe('hmm')
    expect(typesOf(story.tell(send('m-2', { decision: 'granted' })))).toEqual(['answered'])
  })

  it('refuses the id of another consent', () => {
    const story = asked(consentQuestion)
    expect(story.refusal(send('m-1', { consentId: 'consent-0', decision: 'granted' }))).toEqual({
      code: 'CONSENT_MISMATCH',
      details: { taskId: 'task-1', consentId: 'consent-0' },
    })
  })

  it('is refused by a question that asks for none', () => {
    const story = asked({ state: 'auth-required' })
    const answer = send('m-1', { consentId: 'consent-1', decision: 'granted' })
    expect(story.refusal(answer).code).toBe('CONSENT_MISMATCH')
  })

  it('is used once: the same answer does not decide a later question', () => {
    const story = asked(consentQuestion)
    const answer = send('m-1', { consentId: 'consent-1', decision: 'granted', run: run('run-2') })
    story.tell(answer)
    const other = { ...consent, consentId: 'consent-2' }
    story.tell(ask({ state: 'user-consent-required', consent: other }, 'run-2'))
    expect(story.refusal(answer)).toMatchObject({
      code: 'NOT_ASKING',
      details: { decision: 'granted', answeredBy: client, answeredAt: story.now },
    })
  })

  it('leaves a decision out that belongs to no consent', () => {
    const story = asked()
    const records = story.tell(send('m-1', { decision: 'granted' }))
    expect(only(records, 'answered').decision).toBeUndefined()
  })
})

describe('pausing an interrupted task', () => {
  it.each(['input-required', 'auth-required', 'user-consent-required'] as const)(
    'is refused in %s',
    (state) => {
      expect(asked({ state }).refusal(pause())).toMatchObject({
        code: 'TASK_NOT_PAUSABLE',
        details: { state },
      })
    },
  )

  it.each(['auth-required', 'user-consent-required'] as const)(
    'is refused in %s also in the Bindu dialect',
    (state) => {
      const refusal = asked({ state }).refusal(pause('suspend-1', { evenInputRequired: true }))
      expect(refusal.code).toBe('TASK_NOT_PAUSABLE')
    },
  )

  it('is answered, on resume, by the message that came while it was stopped', () => {
    const story = asked()
    story.tell(pause('suspend-1', { evenInputRequired: true }))
    expect(typesOf(story.tell(send('m-1')))).toEqual(['deferred'])
    expect(typesOf(story.tell(send('m-2')))).toEqual(['message'])
    expect(story.task.state).toBe('paused-by-client')
    const records = story.tell(resume({ run: run('run-2') }))
    expect(typesOf(records).slice(0, 2)).toEqual(['resumed', 'answered'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-2'), deferred: undefined })
    expect(story.task.history.map((entry) => entry.messageId)).toContain('m-1')
  })

  it('stays stopped when a hold is lifted, answered or not', () => {
    const story = asked()
    story.tell(pause('suspend-1', { evenInputRequired: true }))
    story.tell(send('m-1'))
    story.tell(hold('h-1'))
    story.tell(lift('h-1'))
    expect(story.task).toMatchObject({ state: 'paused-by-client', deferred: { kind: 'answer' } })
  })

  it('keeps the question in the Bindu dialect, and resume restores it without a run', () => {
    const story = asked({ expiresAt: 5_000_000 })
    const { question, statusMessage } = story.task
    const records = story.tell(pause('suspend-1', { evenInputRequired: true, atBoundary: false }))
    expect(typesOf(records)).toEqual(['pause-requested', 'paused'])
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: { pausedFrom: 'input-required' },
    })
    story.tell(resume({ run: run('run-2') }))
    expect(story.task).toMatchObject({ state: 'input-required', question, statusMessage })
    expect(story.task.run).toBeUndefined()
    expect(story.task.resumes.at(-1)).toMatchObject({
      previousState: 'paused-by-client',
      state: 'input-required',
    })
    expect(typesOf(story.tell(send('m-1')))).toEqual(['answered'])
  })
})

describe('a question that is reached while quiescing', () => {
  it('is not asked before the resume', () => {
    const story = working()
    story.tell(pause('suspend-1', { atBoundary: false }))
    expect(story.tell(ask())).toEqual([])
    story.tell({ type: 'commit-pause', run: 'run-1' }, resume({ run: run('run-2') }))
    expect(typesOf(story.tell(ask({}, 'run-2')))).toEqual(['asked'])
  })
})
