import { describe, expect, it } from 'vitest'
import {
  type ErrorCode,
  type ErrorDetails,
  isLullError,
  LullError,
  refuse,
  toError,
} from './errors.ts'

/** One of each, and what its sentence must name. A new code does not compile until it is here. */
const samples: { readonly [C in ErrorCode]: readonly [ErrorDetails[C], ...string[]] } = {
  TASK_NOT_FOUND: [{ taskId: 'task-1' }, 'task-1'],
  INVALID_INPUT: [
    { path: 'conditions.timeout', problem: 'must be > 0' },
    'conditions.timeout',
    '> 0',
  ],
  TASK_NOT_PAUSABLE: [
    { taskId: 'task-1', state: 'failed', why: 'it is failed' },
    'task-1',
    'failed',
  ],
  TASK_NOT_PAUSED: [{ taskId: 'task-1', state: 'working' }, 'task-1', 'working'],
  RESUME_HANDLE_MISMATCH: [{ taskId: 'task-1', handle: 'suspend-9' }, 'task-1', 'suspend-9'],
  TASK_TERMINAL: [{ taskId: 'task-1', state: 'canceled' }, 'task-1', 'canceled'],
  TASK_HELD: [{ taskId: 'task-1', holdIds: ['hold-1', 'hold-2'] }, 'task-1', 'hold-1', 'hold-2'],
  BUDGET_EXCEEDED: [{ taskId: 't', budgetId: 'b', figures: '5 of 4 tokens' }, 't', '5 of 4 tokens'],
  CONSENT_MISMATCH: [{ taskId: 'task-1', consentId: 'consent-1' }, 'task-1', 'consent-1'],
  CONSENT_NOT_YOURS: [
    { taskId: 'task-1', consentId: 'consent-1', why: 'it asks for another' },
    'task-1',
    'consent-1',
    'it asks for another',
  ],
  NOT_ASKING: [
    {
      taskId: 'task-1',
      state: 'working',
      decision: 'granted',
      answeredBy: { kind: 'client', id: 'ann' },
      answeredAt: 0,
    },
    'task-1',
    'working',
    'granted by ann at 1970-01-01T00:00:00.000Z',
  ],
  REMINDER_LIMIT: [{ taskId: 'task-1', limit: 64 }, 'task-1', '64'],
  FORBIDDEN: [{ scope: 'tasks:write' }, 'tasks:write'],
  IDEMPOTENCY_KEY_REUSED: [{ key: 'key-1' }, 'key-1'],
  NOT_OFFERED: [{ agent: 'echo', capability: 'pause' }, 'echo', 'pause'],
  NOT_FOUND: [{ what: 'budget', id: 'budget-1' }, 'budget-1'],
  AGENT_UNKNOWN: [{ agent: 'echo' }, 'echo'],
  LIMIT_EXCEEDED: [{ limit: 'maxTasks', value: 5 }, 'maxTasks', '5'],
  DRAINING: [{ retryAfterMs: 1_000 }, 'stopping'],
  STORE_UNAVAILABLE: [{ why: 'disk full' }, 'disk full'],
  TASK_UNREADABLE: [{ taskId: 'task-1', why: 'its log is damaged' }, 'task-1', 'damaged'],
  RECORD_REFUSED: [{ taskId: 'task-1', why: 'not JSON' }, 'task-1', 'not JSON'],
  OVERLOADED: [
    { limit: 'waitingCommands', value: 9, retryAfterMs: 500 },
    'waitingCommands',
    '9',
    '500',
  ],
  STORE_LOCKED: [{ path: 'data.db', owner: 'pid 7' }, 'data.db', 'pid 7'],
  STEP_RESULT: [{ step: 'plan', problem: 'is too large' }, 'plan', 'too large'],
  STEP_TIMEOUT: [{ step: 'plan', timeoutMs: 50 }, 'plan', '50'],
  CONSENT_DENIED: [{ prompt: 'Force-push?' }, 'Force-push?'],
  STALE_RUN: [{ taskId: 'task-1' }, 'task-1'],
}
const codes = Object.keys(samples) as ErrorCode[]

describe('an error', () => {
  it.each(codes)('%s says in a sentence what it is about', (code) => {
    const [details, ...named] = samples[code]
    const error = new LullError(code, details)
    expect(error.code).toBe(code)
    expect(error.details).toEqual(details)
    for (const part of named) expect(error.message).toContain(part)
    expect(error.message).not.toMatch(/undefined|\[object/)
  })

  it('tells a resume that came too late who was first', () => {
    const details = { taskId: 'task-1', state: 'working', cause: 'timeout', resumedAt: 5 }
    expect(new LullError('TASK_NOT_PAUSED', details).message).toContain('timeout')
  })

  it('about the whole input has no path in front', () => {
    const problem = 'The body is not JSON'
    expect(new LullError('INVALID_INPUT', { path: '', problem }).message).toBe(problem)
  })

  it('keeps its cause', () => {
    const cause = new Error('EIO')
    expect(new LullError('STORE_UNAVAILABLE', { why: 'EIO' }, { cause }).cause).toBe(cause)
  })

  it('is made from a refusal', () => {
    const { refusal } = refuse('REMINDER_LIMIT', { taskId: 'task-1', limit: 64 })
    expect(toError(refusal)).toEqual(
      new LullError('REMINDER_LIMIT', { taskId: 'task-1', limit: 64 }),
    )
  })
})

describe('isLullError', () => {
  const error = new LullError('STALE_RUN', { taskId: 'task-1' })

  it('knows its own, with or without a code', () => {
    expect(isLullError(error)).toBe(true)
    expect(isLullError(error, 'STALE_RUN')).toBe(true)
    expect(isLullError(error, 'TASK_HELD')).toBe(false)
  })

  it('knows one made by another copy of the package', () => {
    const foreign = Object.assign(new Error('…'), { name: 'LullError', code: 'STALE_RUN' })
    expect(isLullError(foreign, 'STALE_RUN')).toBe(true)
  })

  it.each([new Error('x'), { name: 'LullError', code: 'STALE_RUN' }, 'LullError', null, undefined])(
    'refuses %o',
    (other) => {
      expect(isLullError(other)).toBe(false)
    },
  )
})
