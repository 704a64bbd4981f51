import { describe, expect, it } from 'vitest'
import type { Command } from '../commands.ts'
import { decide } from '../decide.ts'
import {
  asked,
  cancel,
  client,
  complete,
  createStory,
  fail,
  hold,
  message,
  only,
  park,
  parked,
  pause,
  paused,
  policyPause,
  quiescing,
  record,
  reject,
  release,
  remind,
  reminder,
  resume,
  run,
  type Story,
  send,
  start,
  startTurn,
  step,
  submit,
  submitted,
  typesOf,
  wait,
  working,
} from '../test-support/story.ts'

describe('submitting', () => {
  it('makes a task that nobody runs yet', () => {
    const { task } = submitted()
    expect(task).toMatchObject({ state: 'submitted', version: 1, epoch: 0, turn: 0 })
    expect(task.run).toBeUndefined()
    expect(task.queued).toEqual([message('m-0')])
  })

  it('starts at once where a run is given', () => {
    const story = createStory()
    expect(typesOf(story.tell({ ...submit(), run: run('run-1') }))).toEqual([
      'submitted',
      'started',
    ])
    expect(story.task).toMatchObject({ state: 'working', run: { token: 'run-1' } })
  })

  it('under a hold for new tasks keeps the task from starting', () => {
    const story = createStory()
    const { hold: mark } = hold('h-1')
    const records = story.tell({ ...submit(), run: run('run-1'), holds: [mark] })
    expect(typesOf(records)).toEqual(['submitted', 'held'])
    expect(story.tell(start())).toEqual([])
    expect(story.task.state).toBe('submitted')
  })

  it('what the agent rejects at once makes a task that has ended', () => {
    const story = createStory()
    const records = story.tell({
      ...submit({ reminders: [reminder('r-1')] }),
      run: run('run-1'),
      rejection: message('no'),
    })
    expect(typesOf(records)).toEqual(['submitted', 'reminder-expired', 'rejected'])
    expect(story.task).toMatchObject({ state: 'rejected', statusMessage: message('no') })
    expect(story.task.run).toBeUndefined()
  })

  it('what exists already does nothing', () => {
    const story = working()
    expect(story.tell(submit())).toEqual([])
  })
})

describe('a task that does not exist', () => {
  it('refuses everything', () => {
    const story = createStory()
    for (const command of [start(), send('m-1'), pause(), resume(), cancel(), complete()]) {
      expect(story.refusal(command).code).toBe('TASK_NOT_FOUND')
    }
  })
})

describe('starting', () => {
  it('moves a submitted task to working under the token of the run', () => {
    const story = submitted()
    expect(typesOf(story.tell(start('run-1')))).toEqual(['started'])
    expect(story.task).toMatchObject({ state: 'working', run: run('run-1'), deaths: 0 })
  })

  it('leaves a task alone that somebody runs', () => {
    const story = working()
    expect(story.tell(start('run-2'))).toEqual([])
    expect(story.task.run).toEqual(run('run-1'))
  })

  it('leaves a task alone that is stopped, asks or has ended', () => {
    const ended = working()
    ended.tell(complete())
    for (const story of [paused(), parked(), asked(), ended]) {
      expect(story.tell(start('run-2', { from: run('run-1') }))).toEqual([])
    }
  })

  it('C2: does nothing where the task was taken over from the same run before', () => {
    const story = working()
    story.tell(start('run-2', { from: run('run-1') }))
    expect(story.tell(start('run-3', { from: run('run-1') }))).toEqual([])
    expect(story.tell(policyPause({ from: run('run-1') }))).toEqual([])
    expect(story.task.run).toEqual(run('run-2'))
  })

  it('takes a task over from a run that died, whose commands are stale from then on', () => {
    const story = working()
    story.tell(start('run-2', { from: run('run-1') }))
    expect(story.task).toMatchObject({ run: run('run-2'), deaths: 1 })
    expect(story.refusal(step('s', 'run-1')).code).toBe('STALE_RUN')
    expect(typesOf(story.tell(step('s', 'run-2')))).toEqual(['step'])
  })
})

describe('a run that dies again and again', () => {
  const die = (story: Story, times: number): void => {
    for (let n = 1; n <= times; n++) story.tell(start(`run-${n + 1}`, { from: run(`run-${n}`) }))
  }

  it('is tried four times more', () => {
    const story = working()
    die(story, 4)
    expect(story.task).toMatchObject({ state: 'working', deaths: 4, run: run('run-5') })
  })

  it('is paused by policy at the fifth death', () => {
    const story = working()
    die(story, 5)
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: {
        handle: 'suspend-crash-run-6',
        initiator: 'client',
        actor: { kind: 'policy' },
        reason: 'crash-loop',
        pausedFrom: 'working',
      },
    })
    expect(story.task.suspension?.summary).toContain('5 times')
    expect(story.task.run).toBeUndefined()
  })

  it('counts deaths without a new record only', () => {
    const story = working()
    die(story, 4)
    story.tell(step('progress', 'run-5'))
    expect(story.task.deaths).toBe(0)
    story.tell(start('run-7', { from: run('run-5') }))
    expect(story.task).toMatchObject({ state: 'working', deaths: 1 })
  })

  it('counts no deaths of a run that only waits for children', () => {
    const story = working()
    die(story, 4)
    story.tell(wait('run-5'))
    expect(story.task).toMatchObject({ state: 'working', deaths: 0, run: run('run-5') })
    const written = story.task.version
    story.tell(wait('run-5'))
    expect(story.task.version).toBe(written)
  })

  it('is not saved by what others write', () => {
    const story = working()
    for (let n = 2; n <= 6; n++) {
      story.tell(send(`m-${n}`), remind(`r-${n}`), start(`run-${n}`, { from: run(`run-${n - 1}`) }))
    }
    expect(story.task.suspension?.reason).toBe('crash-loop')
  })

  it('whose code blocked its process is stopped at the second death without a new record', () => {
    const story = working()
    story.tell(start('run-2', { from: run('run-1'), death: 'blocked' }))
    expect(story.task).toMatchObject({ state: 'working', deaths: 1 })
    story.tell(start('run-3', { from: run('run-2'), death: 'blocked' }))
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: { actor: { kind: 'policy', id: 'blocked-process' }, reason: 'blocked-process' },
    })
  })

  it('that got further after it blocked a process is not stopped when it does so again', () => {
    const story = working()
    story.tell(start('run-2', { from: run('run-1'), death: 'blocked' }))
    story.tell(step('progress', 'run-2'))
    story.tell(start('run-3', { from: run('run-2'), death: 'blocked' }))
    expect(story.task).toMatchObject({ state: 'working', deaths: 1 })
  })

  it('beside a task that blocked their process is never stopped for it', () => {
    const story = working()
    die(story, 4)
    for (let n = 6; n < 20; n++) {
      story.tell(start(`run-${n}`, { from: run(`run-${n - 1}`), death: 'beside' }))
    }
    expect(story.task).toMatchObject({ state: 'working', deaths: 4, run: run('run-19') })
  })

  it('begins a new count when an operator resumes it', () => {
    const story = working()
    die(story, 5)
    story.tell(resume({ run: run('run-9') }))
    expect(story.task).toMatchObject({ state: 'working', deaths: 0, run: run('run-9') })
  })

  it('does not count a process that gave the task back', () => {
    const story = working()
    for (let n = 1; n <= 9; n++) story.tell(release(`run-${n}`), start(`run-${n + 1}`))
    expect(story.task).toMatchObject({ state: 'working', deaths: 0 })
  })
})

describe('a crash while quiescing', () => {
  it('commits the pause at start, before any agent code runs', () => {
    const story = quiescing({ conditions: { timeout: { durationMinutes: 1 } } })
    story.wait(5_000)
    expect(typesOf(story.tell(start('run-2', { from: run('run-1') })))).toEqual(['paused'])
    expect(story.task).toMatchObject({
      state: 'paused-by-client',
      suspension: {
        handle: 'suspend-1',
        requestedAt: story.now - 5_000,
        pausedAt: story.now,
        deadlineAt: story.now + 60_000,
      },
    })
    expect(story.task.run).toBeUndefined()
  })
})

describe('a message', () => {
  it.each([
    ['submitted', submitted],
    ['working', working],
    ['quiescing', quiescing],
    ['paused', paused],
    ['parked', parked],
  ])('to a %s task is queued for the next turn and wakes nobody', (_, begin) => {
    const story = begin()
    const { state } = story.task
    expect(typesOf(story.tell(send('m-1')))).toEqual(['message'])
    expect(story.task.state).toBe(state)
    expect(story.task.queued.map((queued) => queued.messageId)).toEqual(['m-0', 'm-1'])
    expect(story.task.history.at(-1)?.messageId).toBe('m-1')
  })

  it('is seen by one turn', () => {
    const story = working()
    story.tell(send('m-1'))
    const { messages } = only(story.tell(startTurn()), 'turn-started')
    expect(messages.map((seen) => seen.messageId)).toEqual(['m-0', 'm-1'])
    expect(story.task.queued).toEqual([])
  })
})

describe('ending', () => {
  it.each([
    ['completed', complete()],
    ['failed', fail()],
    ['rejected', reject()],
    ['canceled', cancel()],
  ] as const)('%s is possible from working', (state, command) => {
    const story = working()
    expect(typesOf(story.tell(command))).toEqual([state])
    expect(story.task.state).toBe(state)
    expect(story.task.run).toBeUndefined()
  })

  it('says its last word where there is one', () => {
    const story = working()
    story.tell({ ...complete(), message: message('done') })
    expect(story.task.statusMessage).toEqual(message('done'))
  })

  it.each([
    ['submitted', submitted],
    ['working', working],
    ['quiescing', quiescing],
    ['paused', paused],
    ['parked', parked],
    ['asked', asked],
  ])('a %s task can be cancelled', (_, begin) => {
    const story = begin()
    const records = story.tell(cancel({ reason: 'changed my mind' }))
    expect(only(records, 'canceled')).toMatchObject({ actor: client, reason: 'changed my mind' })
    expect(story.task.state).toBe('canceled')
    expect(story.task.suspension).toBeUndefined()
    expect(story.task.question).toBeUndefined()
  })

  it.each([
    ['completion', 'completed', complete()],
    ['failure', 'failed', fail()],
    ['cancel', 'canceled', cancel()],
  ] as const)('%s wins over a pause that has not committed', (_, state, command) => {
    const story = quiescing()
    story.tell(command)
    expect(story.task.state).toBe(state)
    expect(story.task.pausing).toBeUndefined()
    expect(story.refusal(pause('suspend-2'))).toMatchObject({
      code: 'TASK_NOT_PAUSABLE',
      details: { state },
    })
  })
})

describe('a task that has ended', () => {
  const commands: readonly Command[] = [
    submit(),
    start('run-2', { from: run('run-1') }),
    send('m-1'),
    pause('suspend-9'),
    resume(),
    { type: 'event', event: { id: 'e', source: 's', type: 'x' }, pos: 99 },
    { type: 'due', messageId: 'm' },
    cancel(),
    hold('h-1'),
    { type: 'lift', holdId: 'h-1', actor: client },
    remind('r-1'),
    { type: 'clear-reminders', filter: {} },
    policyPause(),
    policyPause({ run: 'run-1' }),
    record({ type: 'value', key: 'v', value: 1 }),
    startTurn(),
    { type: 'show-reminders', run: 'run-1', key: 'k', turn: 1, ids: ['r-1'] },
    park('suspend-9'),
    { type: 'commit-pause', run: 'run-1' },
    { type: 'continue-as', run: 'run-1', key: 'k', state: null, transcript: [] },
    complete(),
    fail(),
    reject(),
    release(),
  ]

  it.each(commands.map((command) => [command.type, command] as const))(
    'is not changed by %s',
    (_, command) => {
      for (const end of [complete(), fail(), reject(), cancel()]) {
        const story = working()
        story.tell(end)
        expect(decide(story.task, command, story.now).records ?? []).toEqual([])
      }
    },
  )

  it('refuses messages, cancel and reminders and says how it ended', () => {
    const story = working()
    story.tell(complete())
    for (const command of [send('m-1'), cancel(), remind('r-1')]) {
      expect(story.refusal(command)).toEqual({
        code: 'TASK_TERMINAL',
        details: { taskId: 'task-1', state: 'completed' },
      })
    }
  })
})

describe('a process that stops', () => {
  it('gives its task back at a boundary and the next process goes on', () => {
    const story = working()
    expect(typesOf(story.tell(release()))).toEqual(['released'])
    expect(story.task.state).toBe('working')
    expect(story.task.run).toBeUndefined()
    expect(typesOf(story.tell(start('run-2')))).toEqual(['started'])
  })

  it('commits a pause that waited for that boundary', () => {
    const story = quiescing()
    expect(typesOf(story.tell(release()))).toEqual(['paused'])
    expect(story.task.state).toBe('paused-by-client')
  })
})
