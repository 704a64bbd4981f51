import { describe, expect, it } from 'vitest'
import type { Json } from '../../../core/values/json.ts'
import type { ReminderRequest } from '../../input/requests.ts'
import {
  createHarness,
  dataOf,
  type Harness,
  message,
  running,
} from '../../test-support/engine-harness.ts'

const looking = running(async (task) => {
  await task.turn(async (turn) => {
    const seen: Json = turn.reminders.map(({ body }) => body)
    await task.artifact({ name: 'seen', data: seen })
  })
})
const note = (body: string, some: Partial<ReminderRequest> = {}): ReminderRequest => ({
  body,
  ...some,
})
const idsOf = async (harness: Harness, id: string): Promise<readonly string[]> =>
  (await harness.get(id)).reminders.map(({ reminder }) => reminder.id)

describe('reminders that come with a message', () => {
  it('are seen by the first turn of the task it begins', async () => {
    const harness = await createHarness({ agents: [looking] })
    const { id } = await harness.send('go', { reminders: [note('one'), note('two')] })
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual(['one', 'two'])
  })

  it('displace each other by key and by id', async () => {
    const harness = await createHarness({ agents: [looking] })
    const { id } = await harness.send('go', {
      reminders: [
        note('one', { dedupeKey: 'k' }),
        note('two', { id: 'r' }),
        note('three', { dedupeKey: 'k' }),
        note('four', { id: 'r' }),
      ],
    })
    expect(dataOf(await harness.until(id, 'completed'), 'seen')).toEqual(['three', 'four'])
  })

  it('are refused beyond the limit, and nothing begins', async () => {
    const harness = await createHarness({ agents: [looking], options: { pendingReminders: 1 } })
    const sent = harness.send('go', { reminders: [note('one'), note('two')] })
    await expect(sent).rejects.toMatchObject({ code: 'REMINDER_LIMIT' })
    await expect(harness.send('go', { reminders: [note(' ')] })).rejects.toMatchObject({
      details: { path: 'reminders.0.body' },
    })
    expect(harness.said).toEqual([])
  })

  it('reach a task that exists before the message does, once however often it is sent', async () => {
    const harness = await createHarness({
      agents: [running((task) => task.park({ reason: 'x' }).then(() => undefined))],
    })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    const request = { message: { ...message('more'), taskId: id }, reminders: [note('one')] }
    const before = (await harness.types(id)).length
    await harness.send('', request)
    expect((await harness.types(id)).slice(before)).toEqual(['reminder-injected', 'message'])
    const ids = await idsOf(harness, id)
    await harness.send('', request)
    expect(await idsOf(harness, id)).toEqual(ids)
  })

  it('are refused where the agent takes none', async () => {
    const deaf = running((task) => task.park({ reason: 'x' }).then(() => undefined), {
      reminders: false,
    })
    const harness = await createHarness({ agents: [deaf] })
    const refusal = { code: 'NOT_OFFERED' }
    await expect(harness.send('go', { reminders: [note('one')] })).rejects.toMatchObject(refusal)
    const { id } = await harness.send('go')
    const request = { message: { ...message('more'), taskId: id }, reminders: [note('one')] }
    await expect(harness.send('', request)).rejects.toMatchObject(refusal)
  })
})

it('what a parent would pass on does not reach a child that takes none', async () => {
  const deaf = running((task) => task.turn(() => undefined), { name: 'deaf', reminders: false })
  const parent = running(
    async (task) => {
      const child = await task.delegate('deaf', 'x')
      await child.result()
      await task.artifact({ name: 'child', data: child.id })
    },
    { name: 'parent' },
  )
  const harness = await createHarness({ agents: [parent, deaf] })
  const { id } = await harness.send('go', { reminders: [note('one', { propagate: 'all' })] })
  const childId = String(dataOf(await harness.until(id, 'completed'), 'child'))
  expect(await harness.types(childId)).not.toContain('reminder-expired')
})
