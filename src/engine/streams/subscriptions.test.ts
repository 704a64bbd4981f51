import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Store } from '../../ports/store.ts'
import {
  alice,
  createHarness,
  type Harness,
  running,
  signal,
} from '../test-support/engine-harness.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { createLiveTexts } from './live-texts.ts'
import type { ReaderUpdate } from './log-reader.ts'
import { createSubscriptions, type ReadRecords, type Subscriptions } from './subscriptions.ts'

async function collect(stream: AsyncIterable<LogRecord>): Promise<readonly LogRecord[]> {
  const seen: LogRecord[] = []
  for await (const record of stream) seen.push(record)
  return seen
}

/** A task that says something each time it is told to go on, and ends when told so. */
async function talker(): Promise<{
  harness: Harness
  id: string
  say: (times: number) => void
  end: () => void
}> {
  let next = signal<number>()
  const harness = await createHarness({
    agents: [
      running(async (task) => {
        for (;;) {
          const times = await task.step('wait', () => next.promise)
          next = signal()
          if (times === 0) return
          for (let n = 0; n < times; n++) await task.say(`${n}`)
        }
      }),
    ],
  })
  const { id } = await harness.send('go')
  await harness.settled()
  return { harness, id, say: (times) => next.fire(times), end: () => next.fire(0) }
}

describe('a subscription', () => {
  it('gives what is in the log, then what is written, in order, and ends with the task', async () => {
    const { harness, id, say, end } = await talker()
    const reading = collect(await harness.engine.subscribe(alice, id))
    say(3)
    await harness.settled()
    end()
    expect(await reading).toEqual(await harness.log(id))
    expect((await harness.engine.health()).subscribers).toBe(0)
  })

  it('goes on after a sequence number', async () => {
    const { harness, id, say, end } = await talker()
    say(2)
    await harness.settled()
    const reading = collect(await harness.engine.subscribe(alice, id, { after: 3 }))
    end()
    expect((await reading).map(({ seq }) => seq)).toEqual(
      (await harness.log(id)).slice(3).map(({ seq }) => seq),
    )
  })

  it('of a task that ended gives its log and ends, and nothing after its last record', async () => {
    const { harness, id, end } = await talker()
    end()
    const { version } = await harness.until(id, 'completed')
    expect(await collect(await harness.engine.subscribe(alice, id))).toEqual(await harness.log(id))
    expect(await collect(await harness.engine.subscribe(alice, id, { after: version }))).toEqual([])
    expect(await collect(await harness.engine.subscribe(alice, id, { after: 999 }))).toEqual([])
  })

  it('Q1: has no gap and no repeat, however writing and reading interleave', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 200 }), { maxLength: 5 }),
        fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 3 }),
        fc.nat({ max: 6 }),
        async (bursts, paces, after) => {
          const { harness, id, say, end } = await talker()
          const { version: begun } = await harness.get(id)
          const readers = paces.map(async (pace) => {
            const seen: number[] = []
            let since = 0
            for await (const { seq } of await harness.engine.subscribe(alice, id, { after })) {
              seen.push(seq)
              if (++since % 10 !== 0) continue
              for (let turn = 0; turn < pace; turn++) await new Promise((go) => setImmediate(go))
            }
            return seen
          })
          for (const burst of bursts) {
            if (burst > 0) say(burst)
            await new Promise((go) => setImmediate(go))
            await harness.settled()
          }
          end()
          const log = await harness.until(id, 'completed').then(() => harness.log(id))
          const wanted = log.map(({ seq }) => seq).filter((seq) => seq > Math.min(after, begun))
          for (const seen of await Promise.all(readers)) expect(seen).toEqual(wanted)
        },
      ),
      { numRuns: 15 },
    )
  })

  it('Q2: of a reader that does not read keeps a bounded buffer and loses nothing', async () => {
    const { harness, id, say, end } = await talker()
    const stream = await harness.engine.subscribe(alice, id)
    await stream.next()
    say(1_000)
    await harness.settled()
    end()
    await harness.until(id, 'completed')
    const rest = await collect(stream)
    expect(rest.map(({ seq }) => seq)).toEqual(
      (await harness.log(id)).slice(1).map(({ seq }) => seq),
    )
  })

  it('ends when its signal fires, whether it waits or reads', async () => {
    const { harness, id } = await talker()
    const controller = new AbortController()
    const reading = collect(
      await harness.engine.subscribe(alice, id, { signal: controller.signal }),
    )
    await harness.settled()
    expect((await harness.engine.health()).subscribers).toBe(1)
    controller.abort()
    await reading
    expect((await harness.engine.health()).subscribers).toBe(0)
    const late = await harness.engine.subscribe(alice, id, { signal: controller.signal })
    expect(await collect(late)).toEqual([])
  })

  it('without readers is removed', async () => {
    const { harness, id } = await talker()
    for await (const _record of await harness.engine.subscribe(alice, id)) break
    expect((await harness.engine.health()).subscribers).toBe(0)
  })

  it('of a task that is not yours does not exist', async () => {
    const { harness, id } = await talker()
    const other = { tenant: 'acme', principal: 'bob' }
    await expect(harness.engine.subscribe(other, id)).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
    })
  })
})

describe('waiting for a task', () => {
  it('returns the task that met the condition, or the current task after the timeout', async () => {
    const { harness, id, say } = await talker()
    const waiting = harness.engine.waitFor(alice, id, (task) => task.statusMessage !== undefined)
    say(1)
    expect((await waiting).statusMessage?.parts).toEqual([{ text: '0' }])
    const late = harness.engine.waitFor(alice, id, () => false, { timeoutMs: 1_000 })
    await harness.pass(1_000)
    expect((await late).state).toBe('working')
  })

  it('fails alone when what is wanted throws', async () => {
    const { harness, id, say, end } = await talker()
    const waiting = harness.engine.waitFor(alice, id, (task) => {
      if (task.version > 3) throw new Error('mine')
      return false
    })
    const failed = expect(waiting).rejects.toThrow('mine')
    say(2)
    await failed
    await harness.settled()
    end()
    await harness.until(id, 'completed')
  })

  it('ends when its signal fires', async () => {
    const { harness, id } = await talker()
    const controller = new AbortController()
    const { signal: abort } = controller
    const waiting = harness.engine.waitFor(alice, id, () => false, { signal: abort })
    await harness.settled()
    controller.abort()
    expect((await waiting).state).toBe('working')
    const late = harness.engine.waitFor(alice, id, () => false, { signal: abort })
    expect((await late).state).toBe('working')
  })

  it('ends when the task cannot be read any more', async () => {
    const faulty = createFaultyStore()
    const harness = await createHarness({ store: faulty.store, options: { cachedTasks: 0 } })
    const { id } = await harness.send('x')
    await harness.until(id, 'completed')
    faulty.readsFail = true
    await expect(harness.engine.waitFor(alice, id, () => false)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
  })
})

describe('a reading', () => {
  const taskId = 't'
  const record = (seq: number, type = 'said'): LogRecord => ({ type, seq, at: 0 }) as never
  const task = (version: number): Task => ({ id: taskId, version }) as never
  const seqs = (given: ReaderUpdate) =>
    given !== undefined && 'records' in given ? given.records.map(({ seq }) => seq) : undefined

  /** A log that may be longer than what was published: others write to it too. */
  function open(version: number): {
    log: LogRecord[]
    reads: () => number
    subscriptions: Subscriptions
    publish: (from: number, to: number, type?: string) => void
  } {
    const log = Array.from({ length: version }, (_, n) => record(n + 1))
    let reads = 0
    const records: ReadRecords = async (_, after, limit) => {
      reads++
      return log.filter(({ seq }) => seq > after).slice(0, limit)
    }
    const subscriptions = createSubscriptions(records, () => version, createLiveTexts())
    return {
      log,
      reads: () => reads,
      subscriptions,
      publish(from, to, type) {
        const written = Array.from({ length: to - from + 1 }, (_, n) => record(from + n, type))
        log.push(...written)
        subscriptions.publish(task(to), written, task(from - 1))
      },
    }
  }

  it('gives what is written together together, with the task before it, and does not touch the store', async () => {
    const { subscriptions, publish, reads } = open(3)
    const reading = subscriptions.follow(task(3), 3)
    expect(reading.live).toBe(true)
    const next = reading.next()
    publish(4, 6)
    publish(7, 7, 'completed')
    expect(await next).toMatchObject({ before: { version: 3 } })
    expect(seqs(await reading.next())).toEqual([7])
    expect(await reading.next()).toBeUndefined()
    expect(reads()).toBe(0)
    expect(subscriptions.readers()).toBe(0)
  })

  it('reads from the store the records that another process wrote in between', async () => {
    const { subscriptions, publish, log } = open(3)
    const reading = subscriptions.follow(task(3), 3)
    const next = reading.next()
    log.push(record(4), record(5))
    publish(6, 7)
    expect(seqs(await next)).toEqual([4, 5, 6, 7])
    publish(8, 8)
    expect(await reading.next()).toMatchObject({ before: { version: 7 } })
  })

  it('gives what it has queued, then the store, then what is live again, when it was slow', async () => {
    const { subscriptions, publish } = open(3)
    const reading = subscriptions.follow(task(3), 3)
    publish(4, 103)
    publish(104, 203)
    publish(204, 703)
    expect(reading.live).toBe(false)
    const seen = [...(seqs(await reading.next()) ?? [])]
    for (let next = 0; next < 3; next++) seen.push(...(seqs(await reading.next()) ?? []))
    publish(704, 704)
    expect(await reading.next()).toMatchObject({ before: { version: 703 } })
    expect(seen).toEqual(Array.from({ length: 700 }, (_, n) => n + 4))
  })

  it('that is closed while it waits ends', async () => {
    const { subscriptions, publish } = open(3)
    const reading = subscriptions.follow(task(3), 3)
    const next = reading.next()
    reading.close()
    publish(4, 4)
    expect(await next).toBeUndefined()
    expect(await reading.next()).toBeUndefined()
    expect(subscriptions.readers()).toBe(0)
  })
})
