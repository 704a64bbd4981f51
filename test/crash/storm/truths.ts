/** Whether an answer told the truth: what it says is in the log, and was so between the question and the answer. */

import { isTerminal } from '../../../src/core/states.ts'
import type { Task } from '../../../src/core/task.ts'
import { toIso } from '../../../src/core/values/instant.ts'
import type { StormCall } from './plan.ts'
import { nameOf } from './requests.ts'
import type { Attempt } from './storm.ts'
import { type Acknowledgement, everBetween, type Timeline } from './timeline.ts'
import type { Loose } from './wire.ts'

/** What is wrong with the answer, or undefined. */
export function lieOf(attempt: Attempt, timeline: Timeline): string | undefined {
  const { call, answer } = attempt
  // Whoever got no answer was told nothing.
  if (answer === undefined || call.kind === 'event') return undefined
  const { result, error } = answer.body
  if (error === undefined) return lies[call.kind](attempt, timeline, result)
  return refusals[call.kind](attempt, timeline, new Refusal(error))
}

/** An error in the words of either version. */
class Refusal {
  readonly code: number
  readonly reason: string
  readonly state: string | undefined

  constructor({ code, data }: Loose) {
    this.code = code
    const [info] = Array.isArray(data) ? data : [data]
    this.reason = info?.reason
    this.state = info?.metadata?.state ?? info?.state
  }

  toString(): string {
    return `${this.code} ${this.reason} ${this.state}`
  }
}

type Judge<T> = (attempt: Attempt, timeline: Timeline, told: T) => string | undefined
type Judges<T> = Readonly<Record<'pause' | 'resume' | 'message' | 'cancel', Judge<T>>>

function unless(
  { sentAt, answeredAt }: Attempt,
  timeline: Timeline,
  what: string,
  holds: (task: Task) => boolean,
): string | undefined {
  return everBetween(timeline, sentAt, answeredAt, holds) ? undefined : `was never ${what}`
}

const lies: Judges<Loose> = {
  pause(attempt, timeline, told) {
    if (attempt.call.dialect === 'bindu') return binduTask(attempt, timeline, told)
    const what = `${told.state} under ${told.handle}`
    return unless(attempt, timeline, what, (task) => isStoppedAs(task, told))
  },
  resume(attempt, timeline, told) {
    const { call } = attempt
    const made = resumesBy(attempt, timeline, told)
    const [moment] = made
    if (moment === undefined) return 'was not resumed then'
    if (call.dialect === 'bindu') {
      return told.status.state === 'resumed' ? undefined : 'is not called resumed'
    }
    if (made.length > 1) return 'was resumed twice by one call'
    const answer = moment.task.resumes.at(-1)
    const facts = [
      'state',
      'previousState',
      'cause',
      'hadResumeInput',
      'continueTranscript',
    ] as const
    const wrong = facts.find((fact) => told[fact] !== answer?.[fact])
    return wrong && `was resumed with another ${wrong}`
  },
  message(attempt, timeline, told) {
    const task = attempt.call.dialect === '1.0' ? told.task : told
    const bearing = timeline.filter(({ record }) => messageIn(record) === nameOf(attempt.call))
    const [first] = bearing
    const isDeferred = first?.record.type === 'deferred' && bearing[1]?.record.type === 'answered'
    const times = bearing.length - (isDeferred ? 1 : 0)
    if (times !== 1) return `has the message ${times} times`
    const state = task.metadata?.['urn:lull:a2a:task-control:1']?.state
    // Of a core state the metadata says more.
    const wanted = state === undefined || state === 'active' ? undefined : state
    return wanted && unless(attempt, timeline, wanted, (one) => one.state === wanted)
  },
  cancel: (_attempt, timeline) =>
    timeline.at(-1)?.task.state === 'canceled' ? undefined : 'is not canceled',
}

/** As the answer to a pause says, in the words of the RFC. */
function isStoppedAs(task: Task, told: Loose): boolean {
  const stop = told.pausing ? task.pausing : task.suspension
  if (stop === undefined || task.state !== told.state) return false
  if (stop.handle !== told.handle || stop.reason !== told.reason) return false
  return told.pausing
    ? toIso(stop.requestedAt) === told.requestedAt
    : toIso(stop.pausedAt ?? stop.requestedAt) === told.pausedAt
}

/** What in the log the answer to a resume speaks of. */
function resumesBy({ call }: Attempt, timeline: Timeline, told: Loose): Timeline {
  const isBindu = call.dialect === 'bindu'
  const resumedAt = isBindu ? told.status.timestamp : told.resumedAt
  return timeline.filter(
    ({ record }) =>
      (record.type === 'resumed' || record.type === 'pause-withdrawn') &&
      record.idempotencyKey === (isBindu ? undefined : nameOf(call)) &&
      record.cause === 'explicit_resume' &&
      toIso(record.at) === resumedAt,
  )
}

/** The record whoever got this answer was told of, if it was one. */
export function acknowledgedBy(attempt: Attempt, timeline: Timeline): Acknowledgement | undefined {
  const { call, answer, answeredAt: at } = attempt
  const told = answer?.body.result
  if (told === undefined) return undefined
  const found: Readonly<Record<StormCall['kind'], () => Timeline[number] | undefined>> = {
    pause: () =>
      call.dialect === 'bindu' ? undefined : timeline.find(({ task }) => isStoppedAs(task, told)),
    resume: () => resumesBy(attempt, timeline, told)[0],
    message: () => timeline.find(({ record }) => messageIn(record) === nameOf(call)),
    cancel: () => timeline.at(-1),
    event: () => undefined,
  }
  const moment = found[call.kind]()
  return moment && { seq: moment.record.seq, at }
}

/** A message to a question that was suspended is `deferred` first and becomes the answer when the task is resumed. */
function messageIn(record: Timeline[number]['record']): string | undefined {
  if (record.type === 'message' || record.type === 'answered') return record.message.messageId
  if (record.type === 'deferred' && record.deferred.kind === 'answer') {
    return record.deferred.message.messageId
  }
  return undefined
}

function binduTask(attempt: Attempt, timeline: Timeline, told: Loose): string | undefined {
  const { status, metadata } = told
  if (status.state === 'suspended') {
    const { paused_at, paused_from_state } = metadata.checkpoint
    return unless(attempt, timeline, `suspended since ${paused_at}`, ({ suspension }) => {
      if (suspension === undefined) return false
      const at = toIso(suspension.pausedAt ?? suspension.requestedAt)
      return at === paused_at && suspension.pausedFrom === paused_from_state
    })
  }
  const isPausing = metadata?.pausing === true
  return unless(attempt, timeline, `${status.state}, pausing: ${isPausing}`, (task) => {
    return task.state === status.state && (task.pausing !== undefined) === isPausing
  })
}

const strange = (refusal: Refusal): string => `cannot be refused with ${refusal}`

/** The Bindu document has one word for both kinds of stop. */
function isIn(task: Task, state: string | undefined): boolean {
  return task.state === state || (state === 'suspended' && task.suspension !== undefined)
}

const refusals: Judges<Refusal> = {
  pause(attempt, timeline, refusal) {
    if (refusal.code !== (attempt.call.dialect === 'bindu' ? -32040 : -32011))
      return strange(refusal)
    return unless(attempt, timeline, `not pausable: ${refusal}`, (task) =>
      isIn(task, refusal.state),
    )
  },
  resume(attempt, timeline, refusal) {
    const { call, handle } = attempt
    const made = timeline.some(
      ({ record }) => 'idempotencyKey' in record && record.idempotencyKey === nameOf(call),
    )
    if (made) return 'was resumed by a call that was refused'
    if (refusal.code === -32012) {
      return unless(attempt, timeline, 'stopped under another handle', (task) => {
        const stop = task.suspension ?? task.pausing
        return stop !== undefined && stop.handle !== handle
      })
    }
    if (refusal.code !== (call.dialect === 'bindu' ? -32041 : -32011)) return strange(refusal)
    return unless(attempt, timeline, `not paused: ${refusal}`, (task) => {
      // In the words of the RFC a pause that waits for a step can be taken back; in Bindu's it cannot.
      const isStopped =
        task.suspension !== undefined || (call.dialect !== 'bindu' && task.pausing !== undefined)
      return !isStopped && isIn(task, refusal.state)
    })
  },
  message(attempt, timeline, refusal) {
    if (timeline.some(({ record }) => messageIn(record) === nameOf(attempt.call))) {
      return 'has a message that was refused'
    }
    if (refusal.code !== -32004) return strange(refusal)
    return unless(attempt, timeline, `ended: ${refusal}`, (task) => isTerminal(task.state))
  },
  cancel(attempt, timeline, refusal) {
    if (refusal.code !== -32002) return strange(refusal)
    return unless(attempt, timeline, `ended: ${refusal}`, (task) => isTerminal(task.state))
  },
}
