/** What wakes a task while no process runs, or just before one dies, wakes it all the same. */
import { afterEach, describe, expect, it } from 'vitest'
import { killAll } from '../support/worker-process.ts'
import { createHarness } from './harness.ts'

afterEach(killAll)

const MINUTE_MS = 60_000

describe('time that passed while no process ran', () => {
  it('fires every deadline and instant that it reached, and no other', async () => {
    const harness = await createHarness()
    const until = (durationMinutes: number, more: object = {}): { timeout: never } => ({
      timeout: { durationMinutes, ...more } as never,
    })
    const at = new Date(Date.now() + 10 * MINUTE_MS).toISOString()
    const conditions = {
      summary: until(10),
      input: until(10, { onTimeout: 'resume_with_input', input: { late: true } }),
      fail: until(10, { onTimeout: 'fail' }),
      instant: { trigger: { at } },
      later: until(60),
    }
    const taskIds = Object.fromEntries(
      await Promise.all(
        Object.entries(conditions).map(async ([reason, condition]) => [
          reason,
          await harness.run({ park: { reason, conditions: condition } }, { step: 'after' }),
        ]),
      ),
    ) as Record<keyof typeof conditions, string>
    const paused = await harness.run({ step: 'short' }, { park: { reason: 'by hand' } })
    for (const taskId of Object.values(taskIds)) await harness.reached(taskId, 'paused-by-agent')

    await harness.restart({ aheadMs: 11 * MINUTE_MS })
    expect((await harness.ended(taskIds.summary)).wake).toMatchObject({
      cause: 'timeout',
      input: null,
      continueTranscript: false,
    })
    expect((await harness.ended(taskIds.input)).wake).toMatchObject({
      cause: 'timeout',
      input: { late: true },
    })
    expect((await harness.ended(taskIds.instant)).wake?.cause).toBe('condition_fired')
    const failed = await harness.ended(taskIds.fail)
    expect(failed.state).toBe('failed')
    expect(harness.effects(taskIds.fail)).toEqual([])
    expect(harness.effects(taskIds.input)).toEqual(['begin after', 'end after'])
    for (const taskId of [taskIds.later, paused]) {
      expect((await harness.worker().call('get', taskId)).state).toBe('paused-by-agent')
    }
  })

  it("fires the deadline of a client's pause", async () => {
    const harness = await createHarness()
    const began = harness.begins('long')
    const taskId = await harness.run({ step: 'long', ms: 500 }, { step: 'after' })
    await began
    const conditions = { timeout: { durationMinutes: 10 } }
    await harness.worker().call('pause', { taskId, conditions })
    await harness.restart({ aheadMs: 11 * MINUTE_MS })
    expect((await harness.ended(taskId)).wake?.cause).toBe('timeout')
    expect(harness.effects(taskId)).toEqual(['begin long', 'end long', 'begin after', 'end after'])
  })
})

describe('an event', () => {
  const park = { reason: 'ci', conditions: { onEvent: 'ci.done:7' } }
  const event = { id: 'e1', source: 'ci', type: 'ci.done', subject: '7' }

  it('that was acknowledged right before the death has woken the task', async () => {
    const harness = await createHarness()
    const taskId = await harness.run({ park }, { step: 'after' })
    await harness.reached(taskId, 'paused-by-agent')
    await harness.worker().call('emit', event)
    await harness.restart()
    const { wake } = await harness.ended(taskId)
    expect(wake).toMatchObject({ cause: 'condition_fired', event })
  })

  it('that was acknowledged before the task parked is found when it parks, in the next process', async () => {
    const harness = await createHarness()
    const taskId = await harness.run({ ask: 'go on?' }, { park }, { step: 'after' })
    await harness.reached(taskId, 'input-required')
    await harness.worker().call('emit', event)
    await harness.restart()
    const parts = [{ text: 'yes' }]
    const message = { messageId: 'answer', taskId, role: 'ROLE_USER', parts } as const
    await harness.worker().call('send', { message })
    expect((await harness.ended(taskId)).wake).toMatchObject({ event })
  })

  it('that became durable and was told to nobody wakes the task at the next start, once', async () => {
    const harness = await createHarness({ kill: { moment: 'after', nth: 1, of: 'event' } })
    const taskId = await harness.run({ park }, { park: { ...park, reason: 'again' } })
    await harness.reached(taskId, 'paused-by-agent')
    await expect(harness.worker().call('emit', event)).rejects.toMatchObject({ name: 'Died' })

    await harness.restart()
    await harness.reached(taskId, 'paused-by-agent')
    // The sender, who got no answer, sends it again.
    expect(await harness.worker().call('emit', event)).toMatchObject([{ fresh: false }])
    const task = await harness.worker().call('get', taskId)
    expect(task).toMatchObject({
      state: 'paused-by-agent',
      epoch: 2,
      suspension: { reason: 'again' },
      wake: { event },
    })
  })
})
