import { describe, expect, it } from 'vitest'
import type { Space } from '../../ports/store/usage.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import {
  alice,
  bob,
  createHarness,
  dataOf,
  mallory,
  message,
  running,
} from '../test-support/engine-harness.ts'

const parks = running((task) => task.park({ reason: 'x' }).then(() => undefined))
const asks = running(async (task) => {
  await task.ask('Which one?')
})
const SECOND = 1_001

/** A store on a disk with as much space as the test says. */
function onDisk(disk: { freeBytes: number }): Store {
  const store = createMemoryStore()
  return { ...store, space: async (): Promise<Space> => ({ usedBytes: 1, ...disk }) }
}

describe('a principal', () => {
  it('Q1: starts no task when it has stored as many bytes as it may', async () => {
    const harness = await createHarness({ agents: [parks], options: { storedBytes: 20_000 } })
    await harness.send('x'.repeat(15_000))
    await harness.send('x'.repeat(15_000))
    await harness.settled()
    const refusal = {
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'storedBytes of the principal', value: 20_000, retryAfterMs: 60_000 },
    }
    await expect(harness.send('y')).rejects.toMatchObject(refusal)
    harness.clock.advance(SECOND)
    await expect(harness.send('y')).rejects.toMatchObject(refusal)
    // Another principal is not concerned, and neither is a principal of another tenant.
    for (const caller of [bob, mallory]) {
      await harness.engine.send(caller, { message: message('y') })
    }
    expect(await harness.store.count({})).toBe(4)
  })

  it('Q1: is refused in the next process too, and not after retention has made room', async () => {
    const first = await createHarness({ options: { storedBytes: 5_000, tasksForMs: 1_000 } })
    await first.ended((await first.send('x'.repeat(6_000))).id)
    const next = await first.restart()
    await expect(next.send('y')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    await next.pass(2_000)
    expect((await next.engine.prune()).tasks).toBe(1)
    await next.pass(SECOND)
    await next.send('y').catch(() => undefined)
    await next.settled()
    expect((await next.ended((await next.send('y')).id)).state).toBe('completed')
  })

  it('Q1: has a limit of its tasks, and of those that have not ended', async () => {
    const open = await createHarness({ agents: [parks], options: { openTasks: 2 } })
    await open.send('a')
    await open.send('b')
    await expect(open.send('c')).rejects.toMatchObject({
      details: { limit: 'openTasks of the principal', value: 2 },
    })
    const stored = await createHarness({ options: { storedTasks: 2 } })
    for (const text of ['a', 'b']) await stored.ended((await stored.send(text)).id)
    await expect(stored.send('c')).rejects.toMatchObject({
      details: { limit: 'storedTasks of the principal', value: 2 },
    })
  })

  it('Q1: shares what its tenant may store with the other principals', async () => {
    const options = { openTasks: 2, tenantFactor: 1.5 }
    const harness = await createHarness({ agents: [parks], options })
    await harness.send('a')
    await harness.send('b')
    await harness.settled()
    await harness.engine.send(bob, { message: message('c') })
    await harness.pass(SECOND)
    await harness.engine.send(bob, { message: message('d') }).catch(() => undefined)
    await harness.pass(SECOND)
    await expect(harness.engine.send(bob, { message: message('d') })).rejects.toMatchObject({
      details: { limit: 'openTasks of the tenant', value: 3 },
    })
    await harness.engine.send(mallory, { message: message('e') })
  })

  it('Q3: is refused at once, also when it sends everything within a second', async () => {
    const harness = await createHarness({ options: { storedTasks: 3 } })
    const sent = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((text) => harness.send(text)),
    )
    expect(sent.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
  })

  it('repeats a message at its limit and gets the task it started', async () => {
    const harness = await createHarness({ agents: [parks], options: { storedTasks: 1 } })
    const same = { message: message('x', { messageId: '0199aaaa-0000-7000-8000-00000000000a' }) }
    await harness.engine.send(alice, same)
    expect((await harness.engine.send(alice, same)).repeated).toBe(true)
  })

  it('answers a question at its limit, and sends no other message', async () => {
    const harness = await createHarness({ agents: [asks], options: { storedBytes: 5_000 } })
    const { id } = await harness.send('x'.repeat(6_000))
    await harness.until(id, 'input-required')
    await harness.pass(SECOND)
    await harness.tell(id, 'this one')
    expect((await harness.ended(id)).state).toBe('completed')
    await expect(
      harness.engine.remind(alice, { taskId: id, reminder: { body: 'x' } }),
    ).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })
})

describe('forks', () => {
  it('Q1: are refused when the log that they copy does not fit, also many within a second', async () => {
    const agents = [
      running(async (task) => {
        await task.step('read', () => 'x'.repeat(10_000))
        await task.step('write', () => 1)
      }),
    ]
    const harness = await createHarness({ agents, options: { storedBytes: 60_000 } })
    const { id } = await harness.send('go')
    await harness.ended(id)
    const fork = () => harness.engine.fork(alice, { taskId: id, at: 'write', paused: true })
    const forks = await Promise.allSettled(Array.from({ length: 20 }, fork))
    const made = forks.filter(({ status }) => status === 'fulfilled').length
    // The origin has 10,000 bytes, and each fork has as many.
    expect(made).toBeGreaterThan(0)
    expect(made).toBeLessThan(6)
    await expect(fork()).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'storedBytes of the principal', value: 60_000 },
    })
  })
})

describe('events', () => {
  it('Q1: count for their tenant, and are refused when it has stored as many bytes as it may', async () => {
    const harness = await createHarness({ options: { storedBytes: 5_000 } })
    await harness.emit('a', { data: 'x'.repeat(6_000) })
    await harness.pass(SECOND)
    await harness.emit('b').catch(() => undefined)
    await harness.settled()
    await expect(harness.emit('c')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect((await harness.ended((await harness.send('x')).id)).state).toBe('completed')
  })
})

describe('a disk that is nearly full', () => {
  it('Q2: takes no new work, and lets tasks end, stop, go on and be read', async () => {
    const disk = { freeBytes: 1_000_000 }
    const harness = await createHarness({
      agents: [asks, { ...parks, name: 'parker' }],
      store: onDisk(disk),
      options: { freeDiskBytes: 10_000 },
    })
    const asking = await harness.send('a')
    const parked = await harness.send('b', { agent: 'parker' })
    await harness.until(asking.id, 'input-required')
    await harness.until(parked.id, 'paused-by-agent')
    disk.freeBytes = 9_999
    await harness.pass(SECOND)
    await harness.send('too early').catch(() => undefined)
    await harness.settled()

    const refusal = {
      code: 'OVERLOADED',
      details: { limit: 'freeDiskBytes', value: 10_000, retryAfterMs: 60_000 },
    }
    await expect(harness.send('c')).rejects.toMatchObject(refusal)
    await expect(harness.emit('e')).rejects.toMatchObject(refusal)
    await expect(harness.tell(parked.id, 'more')).rejects.toMatchObject(refusal)
    await harness.tell(asking.id, 'this one')
    expect((await harness.ended(asking.id)).state).toBe('completed')
    await harness.engine.resume(alice, { taskId: parked.id })
    expect((await harness.ended(parked.id)).state).toBe('completed')

    disk.freeBytes = 1_000_000
    await harness.pass(SECOND)
    await harness.send('too early').catch(() => undefined)
    await harness.settled()
    await harness.send('c')
  })

  it('Q2: takes no new work when the database is larger than it may be', async () => {
    const harness = await createHarness({ options: { databaseBytes: 0 } })
    await harness.send('a')
    await harness.pass(SECOND)
    await harness.send('b').catch(() => undefined)
    await harness.settled()
    await expect(harness.send('c')).rejects.toMatchObject({ details: { limit: 'databaseBytes' } })
  })
})

describe('what one answer or one run reads', () => {
  it('a list has fewer tasks than asked for when they are large, and goes on behind them', async () => {
    const harness = await createHarness({ options: { listBytes: 25_000 } })
    for (const text of ['a', 'b', 'c', 'd']) {
      await harness.ended((await harness.send(text.repeat(10_000))).id)
      harness.clock.advance(1)
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await harness.engine.list(alice, cursor === undefined ? {} : { cursor })
      expect(page.tasks.length).toBeLessThan(3)
      seen.push(...page.tasks.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(4)
    expect(seen).toHaveLength(4)
  })

  it('an agent sees the newest tasks of a large context, the same ones after a restart', async () => {
    const looks = running(async (task) => {
      const { context } = task
      await task.park({ reason: 'x' })
      await task.artifact({ name: 'seen', data: context.tasks.map(({ history }) => size(history)) })
    })
    const size = (history: readonly unknown[]): number => JSON.stringify(history).length
    const harness = await createHarness({
      agents: [looks],
      options: { contextBytes: 50_000, concurrency: 99 },
    })
    const contextId = 'large'
    const say = (text: string) => harness.send('', { message: message(text, { contextId }) })
    for (let n = 0; n < 9; n++) {
      await say('x'.repeat(10_000))
      harness.clock.advance(1)
    }
    const { id } = await say('look')
    await harness.until(id, 'paused-by-agent')
    const next = await harness.recover({ options: { contextBytes: 1_000_000 } })
    await next.engine.resume(alice, { taskId: id })
    expect(dataOf(await next.ended(id), 'seen')).toHaveLength(2)
  })

  it('a journal with too many bytes stops the task, and a resume lets it go on for as many again', async () => {
    const hoards = running(async (task) => {
      for (let n = 0; n < 6; n++) await task.step(`step-${n}`, () => 'x'.repeat(10_000))
    })
    const options = { journalBytes: 35_000 }
    const harness = await createHarness({ agents: [hoards], options })
    const { id } = await harness.send('go')
    const stopped = await harness.until(id, 'paused-by-client')
    expect(stopped.suspension?.summary).toContain('More than 35000 bytes')
    const next = await harness.recover()
    await next.engine.resume(alice, { taskId: id })
    expect((await next.ended(id)).state).toBe('completed')
  })
})
