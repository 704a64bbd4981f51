/** Live text of a task that runs in another process (Y1 to Y5 of `streams/shared-texts.ts`). */
import { describe, expect, it } from 'vitest'
import type { Changes } from '../../ports/store/cluster.ts'
import type { Store } from '../../ports/store.ts'
import { type ClusterOptions, createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, echo, type Harness } from '../test-support/engine-harness.ts'
import { createRandom } from '../test-support/simulation/random.ts'
import { stage, watcher } from '../test-support/text-watcher.ts'

const LEASE_MS = 15_000

/** A task that runs in `a`, and another process. */
async function writing(some: ClusterOptions = {}, retry?: { attempts: number }) {
  const { agent, attempts } = stage(retry && { retry })
  const cluster = createClusterHarness({ agents: [agent], ...some })
  const a = await cluster.join()
  const b = await cluster.join()
  const { id } = await a.send('go')
  await cluster.settled()
  const write = (text: string, attempt = 0, name = 'out'): void =>
    attempts[attempt]?.step.stream(name).write(text)
  return { cluster, a, b, id, attempts, write }
}

/** Keeps what processes report of live text. */
function overheard() {
  const heard: Changes[] = []
  const connection = (store: Store): Store => {
    const { cluster } = store
    if (cluster === undefined) return store
    const report: typeof cluster.report = (changes) => {
      heard.push(changes)
      cluster.report(changes)
    }
    return { ...store, cluster: { ...cluster, report } }
  }
  return { heard, connection }
}

async function place(process: Harness, id: string): Promise<number> {
  return (await process.get(id)).version
}

describe('live text of a task in another process', () => {
  it('Y4: is shown at once, and then what was written meanwhile as one chunk', async () => {
    const { cluster, b, id, write } = await writing()
    const reader = await watcher(b, id)
    await cluster.pass(500)
    write('a')
    await cluster.settled()
    expect(reader.frames).toEqual([{ text: 'a', append: false, state: 'open' }])
    for (const text of 'bcdef') write(text)
    await cluster.pass(500)
    expect(reader.frames.slice(1)).toEqual([{ text: 'bcdef', append: true, state: 'open' }])
  })

  it('Y1: is completed by its record, and is not discarded before', async () => {
    const { cluster, b, id, write, attempts } = await writing()
    const reader = await watcher(b, id)
    write('one ')
    await cluster.pass(500)
    write('two ')
    write('three')
    attempts[0]?.end()
    await cluster.pass(500)
    expect(reader.frames.map(({ state }) => state)).not.toContain('discarded')
    expect(reader.text()).toBe('one two three')
    expect((await b.get(id)).state).toBe('completed')
  })

  it('Y1: of an attempt that failed is replaced, and two attempts are never mixed', async () => {
    const { cluster, b, id, write, attempts } = await writing({}, { attempts: 2 })
    const reader = await watcher(b, id)
    write('first')
    await cluster.pass(500)
    expect(reader.text()).toBe('first')
    attempts[0]?.end(new Error('broken'))
    await cluster.pass(10_000)
    write('second', 1)
    await cluster.pass(500)
    expect(reader.text()).toBe('second')
    expect(reader.frames.filter(({ append }) => append)).toEqual([])
  })

  it('Y1: goes on in another process for a reader that connects again, without a gap or a repeat', async () => {
    const { cluster, a, b, id, write } = await writing()
    const before = await watcher(a, id)
    write('one ')
    await cluster.settled()
    before.close()
    write('two')
    await cluster.pass(500)
    const after = await watcher(b, id, before.shown(), await place(b, id))
    await cluster.pass(500)
    expect(after.frames).toEqual([{ text: 'two', append: true, state: 'open' }])
  })

  it('Y1: is shown after a record of another process, too', async () => {
    const { cluster, b, id, write } = await writing()
    const reader = await watcher(b, id)
    write('one ')
    await cluster.settled()
    await b.engine.remind(alice, { taskId: id, reminder: { body: 'be quick' } })
    write('two')
    await cluster.pass(500)
    expect(reader.text()).toBe('one two')
    expect(reader.frames.map(({ state }) => state)).toEqual(['open', 'open'])
  })

  it('Y2: of a run that was taken over is not shown any more', async () => {
    const { cluster, a, id, write, attempts } = await writing()
    // A process that cannot run the task.
    const reader = await watcher(await cluster.join({ agents: [echo] }), id)
    await cluster.pass(500)
    write('old')
    await cluster.settled()
    expect(reader.text()).toBe('old')
    cluster.stop(a)
    await cluster.pass(2 * LEASE_MS)
    expect(attempts).toHaveLength(2)
    expect(reader.text()).toBe(undefined)
    write('new', 1)
    await cluster.settled()
    write(' and older')
    cluster.goOn(a)
    await cluster.pass(1_000)
    expect(reader.text()).toBe('new')
  })

  it('Y3: arrives also when messages are lost, doubled and late', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = createRandom(seed)
      // Some arrive, some twice and late, some never.
      const hints = (): readonly number[] => random.pick([[0], [0], [], [3, 0], [7], [2, 2]]) ?? []
      const { cluster, b, id, write, attempts } = await writing({ hints }, { attempts: 2 })
      const reader = await watcher(b, id)
      for (let words = 0; words < 12; words++) {
        write('a')
        await cluster.pass(250)
      }
      await cluster.pass(LEASE_MS)
      expect(reader.text(), `seed ${seed}`).toBe('a'.repeat(12))
      attempts[0]?.end(new Error('again'))
      await cluster.pass(LEASE_MS)
      write('b', 1)
      attempts[1]?.end()
      await cluster.pass(LEASE_MS)
      expect(reader.text(), `seed ${seed}`).toBe('b')
      const folded = reader.frames.map(({ text }) => [...new Set(text)].join(''))
      expect(folded.join('').replaceAll('a', ''), `seed ${seed}`).not.toMatch(/b.*a/)
    }
  })

  it('Y4: of any length arrives in pieces, each a continuation of the one before', async () => {
    const { heard, connection } = overheard()
    const { cluster, b, id, write } = await writing({ connection })
    const reader = await watcher(b, id)
    const text = '😀'.repeat(150_000)
    write(text)
    await cluster.pass(2_000)
    expect(reader.text()).toBe(text)
    const sizes = heard.flatMap(({ texts = [] }) =>
      texts.map(({ pieces }) => pieces[0]?.text.length),
    )
    expect(Math.max(...sizes.map((size) => size ?? 0))).toBeLessThanOrEqual(65_536)
  })

  it('Y5: costs nothing while nobody reads it elsewhere', async () => {
    const { heard, connection } = overheard()
    const { cluster, a, b, id, write } = await writing({ connection })
    const here = await watcher(a, id)
    write('a')
    await cluster.pass(500)
    expect(here.text()).toBe('a')
    expect(heard).toEqual([])
    const there = await watcher(b, id)
    await cluster.pass(500)
    expect(there.text()).toBe('a')
    there.close()
    await cluster.pass(2 * LEASE_MS)
    heard.length = 0
    write('b')
    await cluster.pass(500)
    expect(heard).toEqual([])
    expect(here.text()).toBe('ab')
  })
})
