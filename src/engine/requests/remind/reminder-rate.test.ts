import { expect, it } from 'vitest'
import { createManualClock } from '../../../testing/manual-clock.ts'
import type { Caller } from '../../caller.ts'
import { alice, createHarness, message, running } from '../../test-support/engine-harness.ts'
import { createReminderRate } from './reminder-rate.ts'

const parked = running(async (task) => {
  await task.park({ reason: 'x' })
})
const refusal = (of: string, value: number) => ({
  code: 'LIMIT_EXCEEDED',
  details: { limit: `remindersPerMinute of the ${of}`, value, retryAfterMs: expect.any(Number) },
})

async function withTasks(remindersPerMinute: number, tenantFactor = 4) {
  const options = { remindersPerMinute, tenantFactor }
  const harness = await createHarness({ agents: [parked], options })
  const taskOf = async (caller: Caller): Promise<string> => {
    const sent = await harness.engine.send(caller, { message: message('go') })
    return sent.kind === 'task' ? sent.task.id : ''
  }
  const remind = (caller: Caller, taskId: string) =>
    harness.engine.remind(caller, { taskId, reminder: { body: 'x' } })
  return { harness, taskOf, remind }
}

it('a principal adds so many reminders in a minute, to all of its tasks, and more later', async () => {
  const { harness, taskOf, remind } = await withTasks(6)
  const tasks = [await taskOf(alice), await taskOf(alice), await taskOf(alice)]
  for (const id of [...tasks, ...tasks]) await remind(alice, id)
  await expect(remind(alice, tasks[0] ?? '')).rejects.toMatchObject({
    ...refusal('principal', 6),
    details: { retryAfterMs: 10_000 },
  })
  await harness.pass(10_000)
  await remind(alice, tasks[0] ?? '')
  await expect(remind(alice, tasks[1] ?? '')).rejects.toMatchObject(refusal('principal', 6))
})

it('counts reminders that come with messages, to a new task and to a task that exists', async () => {
  const { harness } = await withTasks(3)
  const reminders = [{ body: 'a' }, { body: 'b' }]
  const { id } = await harness.send('go', { reminders })
  await harness.until(id, 'paused-by-agent')
  const more = { message: { ...message('x'), taskId: id }, reminders }
  await expect(harness.engine.send(alice, more)).rejects.toMatchObject(refusal('principal', 3))
  await expect(harness.send('go', { reminders })).rejects.toMatchObject(refusal('principal', 3))
  expect((await harness.get(id)).reminders).toHaveLength(2)
})

it('limits the principals of a tenant together, and leaves other tenants alone', async () => {
  const { taskOf, remind } = await withTasks(2, 1.5)
  const ann = { tenant: 'acme', principal: 'ann' }
  const bob = { tenant: 'other', principal: 'ann' }
  for (const caller of [alice, alice, ann]) await remind(caller, await taskOf(caller))
  await expect(remind(ann, await taskOf(ann))).rejects.toMatchObject(refusal('tenant', 3))
  await remind(bob, await taskOf(bob))
})

it('refuses no reminder because the wall clock was set back', () => {
  const clock = createManualClock(10_000_000)
  const admit = createReminderRate({ clock, options: { remindersPerMinute: 60, tenantFactor: 4 } })
  admit(alice, 1)
  clock.stepWall(-3_600_000)
  expect(() => admit(alice, 1)).not.toThrow()
})

it('names no time to try again when one message has more reminders than the limit', async () => {
  const { harness } = await withTasks(2)
  const reminders = [{ body: 'a' }, { body: 'b' }, { body: 'c' }]
  const error: unknown = await harness.send('go', { reminders }).catch((refused) => refused)
  expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED' })
  expect(error).toHaveProperty('details', {
    limit: 'remindersPerMinute of the principal',
    value: 2,
  })
})

it('keeps the allowance of a tenant, however many principals the tenant has', () => {
  const clock = createManualClock(0)
  const options = { remindersPerMinute: 5_000, tenantFactor: 4 }
  const admit = createReminderRate({ clock, options })
  const admitted = (): void => {
    for (let n = 0; n <= 20_000; n++) admit({ tenant: 'acme', principal: `p-${n}` }, 1)
  }
  expect(admitted).toThrow('remindersPerMinute of the tenant')
})
