/** The storm is worth what its judge is worth: true answers pass, and each lie is found. */
import { expect, it } from 'vitest'
import { cancel, pause, resume, send, working } from '../../../src/core/test-support/story.ts'
import { toIso } from '../../../src/core/values/instant.ts'
import type { StormCall } from './plan.ts'
import type { Attempt } from './storm.ts'
import { timelineOf, withAcknowledgements } from './timeline.ts'
import { lieOf } from './truths.ts'

/** Works, is paused by call 7 for a second, resumed by call 8, gets the message of call 9, and is canceled. */
const story = working()
story.wait(100)
story.tell(pause('suspend-1', { reason: 'call-7' }))
const pausedAt = story.now
story.wait(1_000)
story.tell(resume({ idempotencyKey: 'call-8' }))
const resumedAt = story.now
story.wait(100)
story.tell(send('call-9'))
const saidAt = story.now
story.wait(100)
story.tell(cancel())
const canceledAt = story.now
const whole = timelineOf(story.log)
/** Everybody knows what they were told, at the time of the record. */
const timeline = withAcknowledgements(
  whole,
  whole.map(({ record: { seq, at } }) => ({ seq, at })),
)

function attempt(call: object, at: number, body: object, handle?: string): Attempt {
  const whole = { dialect: '0.3', task: 0, persistent: false, ...call } as StormCall
  const answer = { status: 200, body }
  return { call: whole, taskId: 'task-1', handle, sentAt: at, answeredAt: at, answer }
}

const pausing = { kind: 'pause', n: 7 }
const resuming = { kind: 'resume', n: 8 }
const paused = {
  taskId: 'task-1',
  state: 'paused-by-client',
  handle: 'suspend-1',
  pausedAt: toIso(pausedAt),
  reason: 'call-7',
}
const resumed = {
  taskId: 'task-1',
  state: 'working',
  previousState: 'paused-by-client',
  cause: 'explicit_resume',
  hadResumeInput: false,
  continueTranscript: true,
  resumedAt: toIso(resumedAt),
}
const refused = (code: number, state: string) => ({ error: { code, data: { state } } })
const canceled = { status: { state: 'canceled' } }

it.each<[string, Attempt]>([
  ['paused, while it was', attempt(pausing, pausedAt, { result: paused })],
  [
    'paused already, a second time',
    attempt({ ...pausing, n: 77 }, pausedAt + 500, { result: paused }),
  ],
  ['resumed', attempt(resuming, resumedAt, { result: resumed })],
  ['not pausable, after its end', attempt(pausing, canceledAt, refused(-32011, 'canceled'))],
  [
    'not paused, before it was',
    attempt({ ...resuming, n: 80 }, pausedAt - 50, refused(-32011, 'working')),
  ],
  [
    'another handle',
    attempt({ ...resuming, n: 81 }, pausedAt + 1, refused(-32012, ''), 'suspend-0'),
  ],
  ['a message', attempt({ kind: 'message', n: 9 }, saidAt, { result: {} })],
  ['canceled', attempt({ kind: 'cancel', n: 10 }, canceledAt, { result: canceled })],
])('believes what is true: %s', (_what, one) => {
  expect(lieOf(one, timeline)).toBeUndefined()
})

it.each<[string, Attempt]>([
  ['paused, when it was not', attempt(pausing, pausedAt - 50, { result: paused })],
  ['paused, after it was resumed', attempt(pausing, resumedAt + 50, { result: paused })],
  [
    'paused under another handle',
    attempt(pausing, pausedAt, { result: { ...paused, handle: 'x' } }),
  ],
  [
    'paused at another time',
    attempt(pausing, pausedAt, { result: { ...paused, pausedAt: toIso(0) } }),
  ],
  ['paused for another reason', attempt(pausing, pausedAt, { result: { ...paused, reason: 'x' } })],
  [
    'pausing, when it was not',
    attempt(pausing, pausedAt, { result: { ...paused, pausing: true } }),
  ],
  [
    'resumed, by a call that is not in the log',
    attempt({ ...resuming, n: 88 }, resumedAt, { result: resumed }),
  ],
  [
    'resumed at another time',
    attempt(resuming, resumedAt, { result: { ...resumed, resumedAt: toIso(0) } }),
  ],
  [
    'resumed with an input',
    attempt(resuming, resumedAt, { result: { ...resumed, hadResumeInput: true } }),
  ],
  ['refused, though it was resumed', attempt(resuming, resumedAt, refused(-32011, 'working'))],
  [
    'not paused, while it was',
    attempt({ ...resuming, n: 80 }, pausedAt + 1, refused(-32011, 'working')),
  ],
  [
    'another handle, though it was this one',
    attempt({ ...resuming, n: 81 }, pausedAt + 1, refused(-32012, ''), 'suspend-1'),
  ],
  ['not pausable, while it worked', attempt(pausing, resumedAt + 1, refused(-32011, 'completed'))],
  ['a code that does not belong here', attempt(pausing, canceledAt, refused(-32603, 'canceled'))],
  ['a message that is not there', attempt({ kind: 'message', n: 99 }, saidAt, { result: {} })],
  [
    'no message, though it is there',
    attempt({ kind: 'message', n: 9 }, canceledAt, refused(-32004, 'canceled')),
  ],
  [
    'ended, while it was not',
    attempt({ kind: 'cancel', n: 10 }, saidAt, refused(-32002, 'completed')),
  ],
])('finds the lie: %s', (_what, one) => {
  expect(lieOf(one, timeline)).toBeTypeOf('string')
})

it('believes who saw what was before, as long as nobody had been told otherwise', () => {
  const late = attempt(resuming, pausedAt + 1, refused(-32011, 'working'))
  const other = { ...late, call: { ...late.call, n: 80 } }
  expect(lieOf(other, withAcknowledgements(whole, []))).toBeUndefined()
  const seq = whole.find(({ record }) => record.type === 'paused')?.record.seq ?? 0
  expect(lieOf(other, withAcknowledgements(whole, [{ seq, at: pausedAt }]))).toBeTypeOf('string')
})
