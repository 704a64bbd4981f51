import { describe, expect, it } from 'vitest'
import type { LogRecord, RecordBody } from '../../../core/records.ts'
import type { Reminder } from '../../../core/reminders/reminders.ts'
import { reminder } from '../../../core/test-support/story.ts'
import { ReminderView } from './wakes-and-reminders.ts'

type TurnStarted = LogRecord & { readonly type: 'turn-started' }

/** A log that is followed as it is written. */
function followed(): { view: ReminderView; write(body: RecordBody): LogRecord } {
  const view = new ReminderView()
  let seq = 0
  return {
    view,
    write(body) {
      const record: LogRecord = { ...body, seq: ++seq, at: 0 }
      view.follow(record)
      return record
    },
  }
}

const turnStarted = (turn: number, reminders: readonly Reminder[] = []): RecordBody => ({
  type: 'turn-started',
  key: `turn:#${turn}`,
  turn,
  messages: [],
  reminders,
  emitted: [],
})
const injected = (id: string, some: Partial<Reminder> = {}): RecordBody => ({
  type: 'reminder-injected',
  reminder: reminder(id, some),
})
const expired = (reason: 'cleared' | 'compaction', ...ids: string[]): RecordBody => ({
  type: 'reminder-expired',
  ids,
  reason,
})
const step: RecordBody = { type: 'step', key: 'step:a#1', name: 'a', attempt: 1 }
const idsOf = (reminders: readonly Reminder[]): readonly string[] => reminders.map(({ id }) => id)

describe('V1: the code behind a result', () => {
  it('sees what came before its record, and nothing that came after', () => {
    const { view, write } = followed()
    const started = write(turnStarted(1, [reminder('r-1')])) as TurnStarted
    write(injected('r-2'))
    const { seq } = write(step)
    write(injected('r-3'))
    expect(idsOf(view.read(started, started.seq).all)).toEqual(['r-1'])
    expect(idsOf(view.read(started, seq).all)).toEqual(['r-1', 'r-2'])
  })

  it('does not see what was cleared or displaced before it', () => {
    const { view, write } = followed()
    const started = write(turnStarted(1, [reminder('r-1'), reminder('r-2')])) as TurnStarted
    write(expired('cleared', 'r-1'))
    write({ type: 'reminder-deduped', ids: ['r-2'], by: 'r-3', dedupeKey: 'k' })
    write(injected('r-3', { dedupeKey: 'k' }))
    const { seq } = write(step)
    expect(idsOf(view.read(started, seq).all)).toEqual(['r-3'])
  })

  it('does not see what its own compaction dropped', () => {
    const { view, write } = followed()
    const started = write(turnStarted(1, [reminder('r-1')])) as TurnStarted
    const { seq } = write({ type: 'compacted', key: 'compact:#1', transcript: [] })
    write(expired('compaction', 'r-1'))
    expect(idsOf(view.read(started, seq).all)).toEqual([])
  })

  it('is told which of them are new to the turn, once, and which turn showed them', () => {
    const { view, write } = followed()
    const started = write(turnStarted(7, [reminder('r-1')])) as TurnStarted
    write(injected('r-2', { firedAtTurn: 3 }))
    const { seq } = write(step)
    expect(view.read(started, seq).fresh).toMatchObject([{ id: 'r-2', firedAtTurn: 7 }])
    expect(view.read(started, seq)).toMatchObject({ all: [{}, { id: 'r-2' }], fresh: [] })
  })
})

it('V2: what waits for the completion of the turn is not seen within it', () => {
  const { view, write } = followed()
  const started = write(turnStarted(1)) as TurnStarted
  write(injected('r-1', { mode: 'wait_for_completion' }))
  const { seq } = write(step)
  expect(view.read(started, seq).all).toEqual([])
})

it('what a rebuilt run finds recorded as shown is not new to it', () => {
  const { view, write } = followed()
  const started = write(turnStarted(1)) as TurnStarted
  write(injected('r-1'))
  const { seq } = write(step)
  write({ type: 'reminders-shown', key: 'r', turn: 1, reminders: [reminder('r-1')], emitted: [] })
  write({ type: 'turn-ended', key: 'turn-end:#1', turn: 1, transcript: [] })
  write(injected('r-2'))
  const later = write(step)
  expect(view.read(started, seq)).toMatchObject({ all: [{ id: 'r-1' }], fresh: [] })
  expect(view.wasRead('r-1')).toBe(true)
  // What comes after the end of the turn is none of its business.
  expect(idsOf(view.read(started, later.seq).all)).toEqual(['r-1'])
})

it('two turns at a time see what comes each for itself', () => {
  const { view, write } = followed()
  const first = write(turnStarted(1)) as TurnStarted
  write(injected('r-1'))
  const second = write(turnStarted(2, [reminder('r-1')])) as TurnStarted
  write(injected('r-2'))
  const { seq } = write(step)
  expect(idsOf(view.read(first, seq).fresh)).toEqual(['r-1', 'r-2'])
  expect(idsOf(view.read(second, seq).fresh)).toEqual(['r-2'])
})

it('a turn that is over sees what it began with, and shows nothing', () => {
  const { view, write } = followed()
  const started = write(turnStarted(1, [reminder('r-1')])) as TurnStarted
  view.forget(1)
  write(injected('r-2'))
  const { seq } = write(step)
  expect(view.read(started, seq)).toMatchObject({ all: [{ id: 'r-1' }], fresh: [] })
  expect(view.wasRead('r-1')).toBe(false)
})
