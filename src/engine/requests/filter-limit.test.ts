import { describe, expect, it } from 'vitest'
import type { EventFilter } from '../../core/waiting/conditions.ts'
import {
  aborted,
  alice,
  createHarness,
  type Harness,
  message,
  running,
} from '../test-support/engine-harness.ts'

/** Stops when it is asked to. */
const idle = running(async (task) => {
  await task.step('wait', (step) => aborted(step.signal))
})

async function waitWith(harness: Harness, filter: EventFilter, caller = alice): Promise<string> {
  const sent = await harness.engine.send(caller, { message: message('go') })
  if (sent.kind !== 'task') throw new Error('no task')
  const { id } = sent.task
  await harness.until(id, 'working')
  const conditions = { trigger: { filter } }
  const request = { taskId: id, conditions, mode: 'interrupt_immediate' } as const
  return (await harness.engine.pause(caller, request)).state
}

describe('filters that fix no type', () => {
  it('are limited in number, because every event is compared with each', async () => {
    const harness = await createHarness({ agents: [idle], options: { filtersWithoutType: 2 } })
    expect(await waitWith(harness, { exact: { subject: 'a' } })).toBe('paused-by-client')
    expect(await waitWith(harness, { exact: { subject: 'b' } })).toBe('paused-by-client')
    await expect(waitWith(harness, { exact: { subject: 'c' } })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'filtersWithoutType of the principal', value: 2 },
    })
    // A filter that is compared already, and one that is looked up, cost nothing more.
    expect(await waitWith(harness, { exact: { subject: 'b' } })).toBe('paused-by-client')
    expect(await waitWith(harness, { exact: { type: 't' } })).toBe('paused-by-client')
  })

  it('are limited for each principal, and for the principals of a tenant together', async () => {
    const options = { filtersWithoutType: 2, tenantFactor: 2 }
    const harness = await createHarness({ agents: [idle], options })
    const wait = (principal: string, subject: string) =>
      waitWith(harness, { exact: { subject } }, { ...alice, principal })
    const refusedFor = (who: string, value: number) => ({
      details: { limit: `filtersWithoutType of the ${who}`, value },
    })
    await wait('ann', 'a')
    await wait('ann', 'b')
    await expect(wait('ann', 'c')).rejects.toMatchObject(refusedFor('principal', 2))
    // A filter of another principal is compared already, and does not count for this one.
    await wait('ben', 'a')
    await wait('ben', 'c')
    await wait('ben', 'd')
    await expect(wait('ben', 'e')).rejects.toMatchObject(refusedFor('tenant', 4))
    await expect(wait('cay', 'e')).rejects.toMatchObject(refusedFor('tenant', 4))
    expect(await wait('ann', 'd')).toBe('paused-by-client')
  })

  it('are limited in length, because a long one makes every event read its task', async () => {
    const harness = await createHarness({ agents: [idle] })
    const long = { any: Array.from({ length: 3 }, () => ({ prefix: { type: 'x'.repeat(1_000) } })) }
    await expect(waitWith(harness, long)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'conditions.trigger.filter' },
    })
  })
})

it('takes at most 1,000 events at once', async () => {
  const harness = await createHarness({ agents: [idle] })
  const event = (n: number) => ({ id: `${n}`, source: '/s', type: 't' })
  const events = Array.from({ length: 1_001 }, (_, n) => event(n))
  await expect(harness.engine.emit(alice, events)).rejects.toThrow('at most 1000 events')
  await expect(harness.engine.emit(alice, events.slice(1))).resolves.toHaveLength(1_000)
})
