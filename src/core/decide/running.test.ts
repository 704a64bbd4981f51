import { describe, expect, it } from 'vitest'
import type { Command } from '../commands.ts'
import {
  ask,
  asked,
  cancel,
  commitPause,
  complete,
  endTurn,
  fail,
  hold,
  only,
  park,
  parked,
  pause,
  paused,
  policyPause,
  record,
  reject,
  release,
  remind,
  resume,
  run,
  type Story,
  send,
  start,
  startTurn,
  step,
  working,
} from '../test-support/story.ts'

const byRun = (token: string): readonly Command[] => [
  step('s', token),
  endTurn(1, token),
  startTurn(token),
  { type: 'show-reminders', run: token, key: 'k', turn: 1, ids: ['r-1'] },
  park('suspend-9', { run: token }),
  ask({}, token),
  commitPause(token),
  { type: 'continue-as', run: token, key: 'k', state: 1, transcript: [] },
  complete(token),
  fail(token),
  reject(token),
  release(token),
  policyPause({ run: token }),
]

describe('a run that lost its task writes nothing', () => {
  const lost: readonly (readonly [string, () => Story])[] = [
    ['it was paused', paused],
    ['it was parked', parked],
    ['it asked', asked],
    ['it was cancelled', () => told(cancel())],
    ['it was held', () => told(hold('h-1'))],
    ['another worker took it over', () => told(start('run-2', { from: run('run-1') }))],
    ['it gave the task back', () => told(release())],
    ['it was paused and resumed elsewhere', () => told(pause(), resume({ run: run('run-2') }))],
  ]

  it.each(lost)('because %s', (_, begin) => {
    const story = begin()
    for (const command of byRun('run-1')) {
      expect(story.refusal(command)).toEqual({
        code: 'STALE_RUN',
        details: { taskId: 'task-1' },
      })
    }
  })

  it('because it never had it', () => {
    const story = working()
    for (const command of byRun('somebody')) {
      expect(story.refusal(command).code).toBe('STALE_RUN')
    }
  })
})

describe('a turn', () => {
  it('counts from one', () => {
    const story = working()
    expect(only(story.tell(startTurn()), 'turn-started').turn).toBe(1)
    expect(only(story.tell(startTurn()), 'turn-started').turn).toBe(2)
    expect(story.task.turn).toBe(2)
  })

  it('of an agent without turns is one top-level step', () => {
    const story = working()
    story.tell(
      record({ type: 'step', key: 'a', name: 'a', attempt: 1, result: 1, topLevel: true }),
      record({ type: 'step', key: 'b', name: 'b', attempt: 1, result: 1 }),
    )
    expect(story.task.turn).toBe(1)
  })

  it('sees messages that no turn has seen, and what arrives later waits', () => {
    const story = working()
    story.tell(startTurn(), send('m-1'))
    expect(story.task.queued.map((entry) => entry.messageId)).toEqual(['m-1'])
    const { messages } = only(story.tell(startTurn()), 'turn-started')
    expect(messages.map((entry) => entry.messageId)).toEqual(['m-1'])
  })

  it('shows every pending reminder, in the order they came', () => {
    const story = working()
    story.tell(remind('r-2'), remind('r-1', { mode: 'wait_for_completion' }))
    const { reminders } = only(story.tell(startTurn()), 'turn-started')
    expect(reminders.map((shown) => shown.id)).toEqual(['r-2', 'r-1'])
  })
})

describe('the first turn after a wake', () => {
  const woken = (): Story => {
    const story = parked()
    story.wait(5_000)
    story.tell(resume({ run: run('run-2') }))
    return story
  }

  it('is the one that has not seen it', () => {
    const story = woken()
    expect(story.task).toMatchObject({ wakeUnseen: true, wake: { reason: 'waiting on ci' } })
    story.tell(startTurn('run-2', { digest: 'Asked: rebase' }))
    expect(story.task.wakeUnseen).toBeUndefined()
    expect(story.task.wake?.reason).toBe('waiting on ci')
  })

  it('keeps the digest that stands in place of the transcript', () => {
    const started = only(
      woken().tell(startTurn('run-2', { digest: 'Asked: rebase' })),
      'turn-started',
    )
    expect(started.digest).toBe('Asked: rebase')
  })

  it('is told of the last wake only, where several came before it', () => {
    const story = woken()
    story.tell(park('suspend-2', { run: 'run-2', reason: 'second stop' }))
    story.tell(resume({ run: run('run-3') }))
    expect(story.task).toMatchObject({ wakeUnseen: true, wake: { reason: 'second stop' } })
  })

  it('comes also after a pause that was lifted with its hold', () => {
    const story = working()
    story.tell(hold('h-1'), { type: 'lift', holdId: 'h-1', actor: { kind: 'operator', id: 'o' } })
    story.tell(start('run-2'))
    expect(story.task).toMatchObject({ wakeUnseen: true, wake: { cause: 'external_event' } })
  })

  it('does not come where nothing stopped', () => {
    expect(working().task.wakeUnseen).toBeUndefined()
  })
})

describe('a park', () => {
  it('stops the task in its own name, under the next epoch', () => {
    const story = working()
    story.tell(park('suspend-1', { summary: 'CI runs', fireAt: 5 }))
    expect(story.task).toMatchObject({
      state: 'paused-by-agent',
      epoch: 1,
      suspension: {
        handle: 'suspend-1',
        epoch: 1,
        initiator: 'agent',
        actor: { kind: 'agent', id: 'rebase-worker' },
        reason: 'waiting on ci',
        summary: 'CI runs',
        pausedFrom: 'working',
        requestedAt: story.now,
        pausedAt: story.now,
        key: 'park',
        fireAt: 5,
      },
    })
    expect(story.task.suspension?.mode).toBeUndefined()
  })

  it('gets an epoch one higher each time', () => {
    const story = working()
    for (const epoch of [1, 2, 3]) {
      story.tell(park(`suspend-${epoch}`), resume({ run: run('run-1') }))
      expect(story.task.wake?.epoch).toBe(epoch)
    }
  })
})

describe('continuing as a new generation', () => {
  it('closes the journal, keeps the reminders and forgets what was voided', () => {
    const story = working()
    story.tell(
      remind('r-1'),
      policyPause({ reason: 'code-changed', mismatch: 'old' }),
      resume({ run: run('run-1') }),
    )
    expect(story.task.journal.voided).toEqual(['old'])
    const [continued] = story.tell({
      type: 'continue-as',
      run: 'run-1',
      key: 'k',
      state: { n: 1 },
      transcript: [],
    })
    expect(story.task.journal).toEqual({
      generation: 1,
      afterSeq: continued?.seq,
      countFrom: continued?.seq,
      state: { n: 1 },
      voided: [],
      wake: story.task.wake,
    })
    expect(story.task.reminders).toHaveLength(1)
  })
})

function told(...commands: readonly Command[]): Story {
  const story = working()
  story.tell(...commands)
  return story
}
