import { describe, expect, it } from 'vitest'
import type { LogRecord, RecordBody } from '../../../core/records.ts'
import type { Suspension } from '../../../core/suspension.ts'
import { Wakes } from './wakes-and-reminders.ts'

/** A log that is followed as it is written. */
function followed(): { wakes: Wakes; write(...bodies: readonly RecordBody[]): number } {
  const wakes = new Wakes()
  let seq = 0
  const one = (body: RecordBody): number => {
    const record: LogRecord = { ...body, seq: ++seq, at: 0 }
    wakes.follow(record)
    return record.seq
  }
  return { wakes, write: (...bodies) => bodies.map(one).at(-1) ?? 0 }
}

const suspension = (handle: string): Suspension => ({
  handle,
  epoch: 1,
  initiator: 'client',
  actor: { kind: 'client', id: 'alice' },
  requestedAt: 0,
  pausedFrom: 'working',
  eventsAfter: 0,
})
const requested = (handle: string): RecordBody => ({
  type: 'pause-requested',
  suspension: suspension(handle),
})
const resumed = (handle: string, input: string): RecordBody => ({
  type: 'resumed',
  handle,
  cause: 'explicit_resume',
  input,
  continueTranscript: true,
})
const pausedAndResumed = (handle: string, input: string): readonly RecordBody[] => [
  requested(handle),
  { type: 'paused', handle },
  resumed(handle, input),
]
const step = (n: number): RecordBody => ({
  type: 'step',
  key: `step:a#${n}`,
  name: 'a',
  attempt: 1,
})
const seenAt = (wakes: Wakes, seq: number): unknown => {
  wakes.show(seq)
  return wakes.look()?.input
}

describe('the wake that code sees', () => {
  it('W1: behind a result is the last one before the record of the result', () => {
    const { wakes, write } = followed()
    const first = write(step(1))
    seenAt(wakes, first)
    const second = write(...pausedAndResumed('p-1', 'one'), step(2))
    const third = write(step(3))
    const parked = write(
      { type: 'parked', fingerprint: '', suspension: { ...suspension('p-2'), key: 'park:#1' } },
      resumed('p-2', 'two'),
    )
    expect([second, third, parked].map((seq) => seenAt(wakes, seq))).toEqual(['one', 'one', 'two'])
  })

  it('W2: after a pause by somebody else is the new one, for the last result before the pause', () => {
    const { wakes, write } = followed()
    const withheld = write(step(1))
    write(...pausedAndResumed('p-1', 'one'))
    expect(seenAt(wakes, withheld)).toBe('one')
    // The code already has the result and waits at its next operation.
    write(...pausedAndResumed('p-2', 'two'))
    expect(wakes.look()?.input).toBe('two')
  })

  it('W3: of a pause that was taken back with input is seen behind later results alone', () => {
    const { wakes, write } = followed()
    const before = write(step(1))
    const actor = { kind: 'client', id: 'alice' } as const
    write(requested('p-1'), {
      type: 'pause-withdrawn',
      handle: 'p-1',
      actor,
      cause: 'explicit_resume',
      input: 'go on',
    })
    const after = write(step(2))
    expect([seenAt(wakes, before), seenAt(wakes, after)]).toEqual([undefined, 'go on'])
  })
})
