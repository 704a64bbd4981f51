import { describe, expect, it } from 'vitest'
import type { Command } from './commands.ts'
import { evolve, fold } from './evolve.ts'
import type { Artifact } from './messages/message.ts'
import type { JournalRecord, LogRecord, RecordBody } from './records.ts'
import { canMove, type InterruptedState, type State, states } from './states.ts'
import type { Task } from './task.ts'
import {
  ask,
  asked,
  cancel,
  client,
  complete,
  createStory,
  fail,
  message,
  park,
  parked,
  paused,
  quiescing,
  record,
  release,
  resume,
  run,
  type Story,
  send,
  start,
  startTurn,
  step,
  submit,
  submitted,
  working,
} from './test-support/story.ts'

const consent = { consentId: 'c', digest: 'd', operation: null }
const next = (task: Task, body: RecordBody): Task => evolve(task, follow(task, body))
const follow = (task: Task, body: RecordBody): LogRecord => ({
  ...body,
  seq: task.version + 1,
  at: task.updatedAt,
})

describe('a log', () => {
  it('begins with "submitted"', () => {
    const [, second] = working().log
    expect(() => evolve(undefined, second as LogRecord)).toThrow('begins with "submitted"')
  })

  it('has one beginning', () => {
    const { task, log } = working()
    expect(() => evolve(task, log[0] as LogRecord)).toThrow('submitted already')
  })

  it('that is empty is no task', () => {
    expect(fold([])).toBeUndefined()
  })

  it('folds to the same task in one go or from any point on', () => {
    const story = parked()
    story.tell(send('m-1'), resume({ run: run('run-1') }), startTurn(), complete())
    for (let length = 0; length <= story.log.length; length++) {
      const before = fold(story.log.slice(0, length))
      expect(fold(story.log.slice(length), before)).toEqual(story.task)
    }
  })
})

describe('a task that was just submitted', () => {
  it('has the facts of its submission, and nothing else', () => {
    const story = createStory()
    const { submission } = submit({ parentId: 'task-0', origin: 'acp', metadata: { a: 1 } })
    const { taskId, message: first, ...facts } = submission
    story.tell({ type: 'submit', submission, holds: [] })
    expect(JSON.parse(JSON.stringify(story.task))).toEqual({
      id: taskId,
      ...facts,
      version: 1,
      createdAt: story.now,
      updatedAt: story.now,
      state: 'submitted',
      statusAt: story.now,
      history: [first],
      queued: [first],
      artifacts: [],
      epoch: 0,
      resumes: [],
      holds: [],
      deaths: 0,
      abandoned: [],
      turn: 0,
      journal: { generation: 0, afterSeq: 0, countFrom: 0, voided: [] },
      reminders: [],
      reminded: [],
      children: [],
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
      consumed: [],
      receipts: { count: 0, head: '' },
    })
  })
})

describe('E1: the state moves only along the table', () => {
  const targets: readonly (readonly [State, RecordBody])[] = [
    ['working', { type: 'answered', message: message('a') }],
    ['input-required', asking('input-required')],
    ['auth-required', asking('auth-required')],
    ['user-consent-required', asking('user-consent-required')],
    ['completed', { type: 'completed' }],
    ['failed', { type: 'failed', message: message('f'), failure: { name: 'E', message: 'f' } }],
    ['rejected', { type: 'rejected', message: message('r') }],
    ['canceled', { type: 'canceled', actor: client }],
  ]
  const pairs = states.flatMap((from) => targets.map(([to, body]) => ({ from, to, body })))

  it.each(pairs)('$from → $to, whatever the log says', ({ from, to, body }) => {
    const task: Task = { ...working().task, state: from }
    if (canMove(from, to)) expect(next(task, body).state).toBe(to)
    else expect(() => next(task, body)).toThrow(/cannot become|nothing follows/)
  })

  it('refuses a pause that nobody requested', () => {
    const { task } = working()
    expect(() => next(task, { type: 'paused', handle: 'suspend-1' })).toThrow('was not requested')
  })

  it('refuses a wake of what is not stopped', () => {
    const wake = { cause: 'explicit_resume', input: null, continueTranscript: true } as const
    const { task } = working()
    expect(() => next(task, { type: 'resumed', handle: 'suspend-1', ...wake })).toThrow(
      'without a suspension',
    )
  })
})

describe('E2: the version', () => {
  it('is the sequence number of the last record, and records carry the time', () => {
    const story = working()
    expect(story.task.version).toBe(2)
    story.wait(7)
    story.tell(step('s'))
    expect(story.task).toMatchObject({ version: 3, updatedAt: story.now, createdAt: story.now - 7 })
  })
})

describe('E3: the suspension', () => {
  it('is there exactly while the task is paused, the question while it is interrupted', () => {
    const seen = [submitted(), working(), paused(), parked(), asked()].map(({ task }) => [
      task.state,
      task.suspension !== undefined,
      task.question !== undefined,
    ])
    expect(seen).toEqual([
      ['submitted', false, false],
      ['working', false, false],
      ['paused-by-client', true, false],
      ['paused-by-agent', true, false],
      ['input-required', false, true],
    ])
  })
})

describe('E4: a terminal task', () => {
  it.each([complete(), fail(), cancel()])('is never changed again ($type)', (end) => {
    const story = working()
    story.tell(end)
    expect(() => next(story.task, { type: 'message', message: message('m') })).toThrow(
      'nothing follows',
    )
  })

  it('has nothing left to do', () => {
    const story = parked()
    story.tell(send('m-1'), cancel())
    expect(story.task).toMatchObject({ queued: [], reminders: [], holds: [] })
    for (const key of ['run', 'suspension', 'pausing', 'question', 'deferred'] as const) {
      expect(story.task[key]).toBeUndefined()
    }
  })
})

describe('the history', () => {
  const said = (key: string): ReturnType<typeof record> =>
    record({ type: 'said', key, message: message(key) })
  const ids = (story: Story): readonly string[] =>
    story.task.history.map((entry) => entry.messageId)

  it('gets a status message when the next one replaces it', () => {
    const story = working()
    story.tell(said('s-1'))
    expect(story.task.statusMessage?.messageId).toBe('s-1')
    expect(ids(story)).toEqual(['m-0'])
    story.tell(said('s-2'))
    expect(story.task.statusMessage?.messageId).toBe('s-2')
    expect(ids(story)).toEqual(['m-0', 's-1'])
  })

  it('keeps question and answer in order', () => {
    const story = working()
    story.tell(said('s-1'), {
      type: 'ask',
      run: 'run-1',
      key: 'k',
      fingerprint: 'f',
      question: { state: 'input-required', message: message('q') },
    })
    story.tell(send('a', { run: run('run-2') }))
    expect(ids(story)).toEqual(['m-0', 's-1', 'q', 'a'])
    expect(story.task.statusMessage).toBeUndefined()
  })

  it('of a task that failed ends before its last message, which is its status', () => {
    const story = working()
    story.tell(said('s-1'), fail())
    expect(ids(story)).toEqual(['m-0', 's-1'])
    expect(story.task.statusMessage?.messageId).toBe('failure')
    expect(story.task.failure).toEqual({ name: 'Error', message: 'boom' })
  })

  it('is untouched by progress alone', () => {
    const story = working()
    story.tell(said('s-1'))
    story.wait(5)
    story.tell(record({ type: 'said', key: 'p', progress: 0.5 }))
    expect(story.task).toMatchObject({ progress: 0.5, statusAt: story.now })
    expect(story.task.statusMessage?.messageId).toBe('s-1')
  })
})

describe('artifacts', () => {
  const artifact = (text: string, name = 'patch'): Artifact => ({
    artifactId: 'a-1',
    name,
    parts: [{ text }],
  })
  const write = (made: Artifact, append: boolean): ReturnType<typeof record> =>
    record({ type: 'artifact', key: 'k', artifact: made, append, last: true })

  it('are added by id', () => {
    const story = working()
    story.tell(
      write(artifact('one'), false),
      write({ ...artifact('two'), artifactId: 'a-2' }, true),
    )
    expect(story.task.artifacts.map((made) => made.artifactId)).toEqual(['a-1', 'a-2'])
  })

  it('are replaced whole', () => {
    const story = working()
    story.tell(write(artifact('one'), false), write(artifact('two', 'new'), false))
    expect(story.task.artifacts).toEqual([artifact('two', 'new')])
  })

  it('grow by chunks', () => {
    const story = working()
    story.tell(write(artifact('one'), false), write(artifact('two'), true))
    expect(story.task.artifacts[0]?.parts).toEqual([{ text: 'one' }, { text: 'two' }])
  })
})

describe('progress of a run', () => {
  const result = { taskId: 'c-1', state: 'completed', artifacts: [] } as const
  const entries: readonly JournalRecord[] = [
    { type: 'step', key: 'k', name: 'n', attempt: 1, result: 1 },
    { type: 'step', key: 'k', name: 'n', attempt: 1, result: 1, topLevel: true },
    { type: 'attempt', key: 'k', attempt: 1, outcome: 'interrupted' },
    { type: 'skipped', key: 'k', name: 'n' },
    { type: 'said', key: 'k', progress: 1 },
    {
      type: 'artifact',
      key: 'k',
      artifact: { artifactId: 'a', parts: [] },
      append: false,
      last: true,
    },
    { type: 'usage', key: 'k', usage: {} },
    { type: 'value', key: 'k', value: 1 },
    { type: 'turn-ended', key: 'k', turn: 1, transcript: [] },
    { type: 'compacted', key: 'k', transcript: [] },
    { type: 'delegated', key: 'k', childId: 'c-1', agent: 'x', message: message('m') },
    { type: 'child-ended', key: 'k', result },
    { type: 'child-called', key: 'k', call: 'pause', result: null },
  ]
  const commands: readonly Command[] = [
    ...entries.map((entry) => record(entry, 'run-2')),
    startTurn('run-2'),
    park('suspend-1', { run: 'run-2' }),
    ask({}, 'run-2'),
    release('run-2'),
    { type: 'continue-as', run: 'run-2', key: 'k', state: null, transcript: [] },
  ]

  it.each(commands.map((command) => [nameOf(command), command] as const))(
    'is anything it writes: %s ends the count of deaths',
    (_, command) => {
      const story = working()
      story.tell(start('run-2', { from: run('run-1') }))
      expect(story.task.deaths).toBe(1)
      story.tell(command)
      expect(story.task.deaths).toBe(0)
    },
  )
})

describe('when a status was reported', () => {
  it.each([
    ['a question that was asked again', asked({ consent }), send('hmm')],
    ['a pause that was withdrawn', quiescing(), resume()],
  ] as const)('is said again by %s', (_, story, command) => {
    story.wait(9)
    story.tell(command)
    expect(story.task.statusAt).toBe(story.now)
  })
})

describe('usage and children', () => {
  it('add up', () => {
    const story = working()
    story.tell(
      record({ type: 'usage', key: 'u-1', usage: { inputTokens: 10, costUsd: 0.5 } }),
      record({ type: 'usage', key: 'u-2', usage: { inputTokens: 5, outputTokens: 1 } }),
      record({ type: 'delegated', key: 'd', childId: 'c-1', agent: 'x', message: message('m') }),
      record({ type: 'delegated', key: 'e', childId: 'c-2', agent: 'x', message: message('m') }),
    )
    expect(story.task.usage).toEqual({ inputTokens: 15, outputTokens: 1, costUsd: 0.5 })
    expect(story.task.children).toEqual(['c-1', 'c-2'])
  })
})

function nameOf(command: Command): string {
  return command.type === 'record' ? (command.records[0]?.type ?? '') : command.type
}

function asking(state: InterruptedState): RecordBody {
  return { type: 'asked', key: 'k', fingerprint: 'f', question: { state, message: message('q') } }
}
