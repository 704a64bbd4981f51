/** V3: events.ts. */
import { describe, expect, it } from 'vitest'
import type { Wake } from '../../core/suspension.ts'
import type { EventFilter, ResumeConditions } from '../../core/waiting/conditions.ts'
import type { Park } from '../author/agent-task.ts'
import {
  alice,
  createHarness,
  dataOf,
  effects,
  type Harness,
  running,
} from '../test-support/engine-harness.ts'

const MINUTE = 60_000

/** An agent that parks as told, and keeps what woke it. */
function parker(...parks: readonly Partial<Park>[]) {
  return running(async (task) => {
    const wakes: Wake[] = []
    for (const park of parks) wakes.push(await task.park({ reason: 'waiting', ...park }))
    await task.artifact({ name: 'wakes', data: JSON.parse(JSON.stringify(wakes)) })
  })
}

async function parked(
  ...parks: readonly Partial<Park>[]
): Promise<{ harness: Harness; id: string }> {
  const harness = await createHarness({ agents: [parker(...parks)] })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  return { harness, id }
}

async function wakesOf(harness: Harness, id: string): Promise<readonly Wake[]> {
  return dataOf(await harness.until(id, 'completed'), 'wakes') as unknown as readonly Wake[]
}

describe('a park', () => {
  it('shows its reason, summary and conditions, and an explicit resume gives its input', async () => {
    const conditions: ResumeConditions = { onEvent: 'ci.done:7', timeout: { durationMinutes: 30 } }
    const { harness, id } = await parked({ summary: 'on CI', ...conditions })
    const { suspension, state } = await harness.get(id)
    expect(state).toBe('paused-by-agent')
    expect(suspension).toMatchObject({
      epoch: 1,
      initiator: 'agent',
      reason: 'waiting',
      summary: 'on CI',
      conditions,
      deadlineAt: harness.clock.now() + 30 * MINUTE,
    })
    await harness.pass(MINUTE)
    const handle = suspension?.handle ?? ''
    const answer = await harness.engine.resume(alice, { taskId: id, handle, input: { go: true } })
    expect(answer).toMatchObject({
      cause: 'explicit_resume',
      hadResumeInput: true,
      previousState: 'paused-by-agent',
      state: 'working',
    })
    expect((await wakesOf(harness, id))[0]).toMatchObject({
      cause: 'explicit_resume',
      input: { go: true },
      pausedMs: MINUTE,
    })
  })

  it('is woken by its event, which comes apart from the input', async () => {
    const { harness, id } = await parked({ onEvent: 'ci.done:7' })
    await harness.emit('ci.done', { subject: '8' })
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.emit('ci.done', { subject: '7', data: { ok: true } })
    const [wake] = await wakesOf(harness, id)
    expect(wake).toMatchObject({ cause: 'condition_fired', input: null })
    expect(wake?.event).toMatchObject({ type: 'ci.done', subject: '7', data: { ok: true } })
  })

  it('does not miss an event that was faster, also when other stops lie between', async () => {
    const { harness, id } = await parked({ onEvent: 'first' }, { onEvent: 'second' })
    await harness.emit('second')
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.emit('first')
    expect((await wakesOf(harness, id)).map((wake) => wake.event?.type)).toEqual([
      'first',
      'second',
    ])
  })

  it('V3: consumes each event once, oldest first', async () => {
    const { harness, id } = await parked(
      { onEvent: 'start' },
      { onEvent: 'tick' },
      { onEvent: 'tick' },
    )
    await harness.emit('tick', { data: 1 })
    await harness.emit('tick', { data: 2 })
    await harness.emit('start')
    const wakes = await wakesOf(harness, id)
    expect(wakes.map((wake) => wake.event && 'data' in wake.event && wake.event.data)).toEqual([
      false,
      1,
      2,
    ])
  })

  it('with since "now" is not woken by what came before it', async () => {
    const { harness, id } = await parked({ onEvent: 'start' }, { onEvent: 'tick', since: 'now' })
    await harness.emit('tick', { data: 1 })
    await harness.emit('start')
    await harness.until(id, (task) => task.epoch === 2)
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.emit('tick', { data: 2 })
    expect((await wakesOf(harness, id))[1]?.event).toMatchObject({ data: 2 })
  })

  it('is not woken by an event of another tenant', async () => {
    const { harness, id } = await parked({ onEvent: 'tick' })
    const event = { id: 'x', source: 'test', type: 'tick' }
    await harness.engine.emit({ tenant: 'evil', principal: 'alice' }, [event])
    await harness.settled()
    expect((await harness.get(id)).state).toBe('paused-by-agent')
  })

  it('disarms what lost: after the wake neither the event nor the deadline does anything', async () => {
    const { harness, id } = await parked(
      { onEvent: 'tick', timeout: { durationMinutes: 1, onTimeout: 'fail' } },
      { onEvent: 'other' },
    )
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, (task) => task.epoch === 2)
    const log = await harness.log(id)
    await harness.emit('tick')
    await harness.pass(MINUTE)
    expect(await harness.log(id)).toEqual(log)
    expect(await harness.store.nextDueAt()).toBeUndefined()
  })

  it('that is refused leaves no trace but an error', async () => {
    const problems = effects()
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const wrong: unknown[] = [
            { reason: 'x', onEvent: '' },
            { reason: 'x', unknown: 1 },
            { reason: 'x', trigger: { at: 'tomorrow' } },
            { reason: 'x', trigger: { schedule: { cron: 'every day' } } },
            { reason: 'x', timeout: { durationMinutes: 0 } },
            { reason: 'x'.repeat(1_001) },
          ]
          for (const park of wrong) {
            try {
              await task.park(park as Park)
            } catch (error) {
              problems.note((error as { details: { path: string } }).details.path)
            }
          }
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'completed')
    expect(problems.list).toEqual([
      'conditions.onEvent',
      'conditions.unknown',
      'conditions.trigger.at',
      'conditions.trigger.schedule.cron',
      'conditions.timeout.durationMinutes',
      'reason',
    ])
    expect(await harness.types(id)).toEqual(['submitted', 'started', 'completed'])
  })
})

describe('the timeout of a park', () => {
  it('by default resumes with a summary: no input, and the transcript is not continued', async () => {
    const { harness, id } = await parked({ timeout: { durationMinutes: 0.5 } })
    await harness.pass(30_000)
    const [wake] = await wakesOf(harness, id)
    expect(wake).toMatchObject({ cause: 'timeout', input: null, continueTranscript: false })
    expect(wake?.event).toMatchObject({ type: 'lull.timeout', handle: wake?.handle })
  })

  it('resumes with the input it was given, or with its own event', async () => {
    const onTimeout = 'resume_with_input'
    const { harness, id } = await parked(
      { timeout: { durationMinutes: 1, onTimeout, input: { fallback: 1 } } },
      { timeout: { durationMinutes: 1, onTimeout } },
    )
    await harness.pass(MINUTE)
    await harness.until(id, (task) => task.epoch === 2)
    await harness.pass(MINUTE)
    const wakes = await wakesOf(harness, id)
    expect(wakes[0]).toMatchObject({ input: { fallback: 1 }, continueTranscript: true })
    expect(wakes[1]?.input).toMatchObject({ type: 'lull.timeout' })
  })

  it('with "fail" ends the task, and says which deadline passed', async () => {
    const { harness, id } = await parked({ timeout: { durationMinutes: 1, onTimeout: 'fail' } })
    await harness.pass(MINUTE - 1)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.pass(1)
    const task = await harness.until(id, 'failed')
    expect(JSON.stringify(task.statusMessage?.parts)).toContain('2026-01-01T00:01:00.000Z')
    await expect(harness.engine.resume(alice, { taskId: id })).rejects.toMatchObject({
      code: 'TASK_NOT_PAUSED',
    })
  })
})

describe('a trigger', () => {
  const matching: readonly [string, EventFilter, object, object][] = [
    ['exact', { exact: { type: 'a', 'data.n': 1 } }, { data: { n: 1 } }, { data: { n: 2 } }],
    ['prefix', { prefix: { subject: 'src/' } }, { subject: 'src/x' }, { subject: 'lib/x' }],
    ['suffix', { suffix: { subject: '.rs' } }, { subject: 'x.rs' }, { subject: 'x.ts' }],
    [
      'all',
      { all: [{ exact: { type: 'a' } }, { prefix: { subject: 'x' } }] },
      { subject: 'xy' },
      { subject: 'y' },
    ],
    [
      'any',
      { any: [{ exact: { subject: '1' } }, { exact: { subject: '2' } }] },
      { subject: '2' },
      { subject: '3' },
    ],
    ['not', { not: { exact: { subject: '1' } } }, { subject: '2' }, { subject: '1' }],
  ]

  it.each(matching)(
    'with a filter of %s wakes on what passes alone',
    async (_n, filter, yes, no) => {
      const { harness, id } = await parked({ trigger: { filter } })
      await harness.emit('a', no)
      await harness.settled()
      expect((await harness.get(id)).state).toBe('paused-by-agent')
      await harness.emit('a', yes)
      expect((await wakesOf(harness, id))[0]?.event).toMatchObject(yes)
    },
  )

  it('at an instant fires then; one that has passed fires at once', async () => {
    const { harness, id } = await parked(
      { trigger: { at: '2026-01-01T12:00:00+02:00' } },
      { trigger: { at: '2020-01-01T00:00:00Z' } },
    )
    await harness.pass(10 * 60 * MINUTE - 1)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.pass(1)
    await harness.pass(0)
    const wakes = await wakesOf(harness, id)
    expect(wakes[0]).toMatchObject({ cause: 'condition_fired', event: { type: 'lull.at' } })
    expect(wakes[1]?.pausedMs).toBe(0)
  })

  it('of a schedule fires when it is due, in its time zone', async () => {
    // The clock begins on Thursday, 1 January 2026, 00:00 UTC: 01:00 in Berlin.
    const schedule = { cron: '30 9 * * 1-5', timezone: 'Europe/Berlin' }
    const { harness, id } = await parked({ trigger: { schedule } })
    await harness.pass((8 * 60 + 30) * MINUTE - 1)
    expect((await harness.get(id)).state).toBe('paused-by-agent')
    await harness.pass(1)
    expect((await wakesOf(harness, id))[0]?.event).toMatchObject({ type: 'lull.schedule' })
  })
})

describe('a sleep', () => {
  it('wakes by itself and keeps the transcript', async () => {
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const { cause, continueTranscript, pausedMs } = await task.sleep(90_000)
          await task.artifact({ name: 'wake', data: { cause, continueTranscript, pausedMs } })
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.pass(90_000)
    expect(dataOf(await harness.until(id, 'completed'), 'wake')).toEqual({
      cause: 'condition_fired',
      continueTranscript: true,
      pausedMs: 90_000,
    })
  })
})
