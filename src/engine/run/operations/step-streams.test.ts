import { describe, expect, it } from 'vitest'
import type { TextChunk } from '../../../core/messages/live-text.ts'
import { alice, createHarness, type Harness, running } from '../../test-support/engine-harness.ts'
import { stage, watcher } from '../../test-support/text-watcher.ts'

const artifactText = async (harness: Harness, id: string): Promise<unknown> =>
  (await harness.get(id)).artifacts.map(({ name, parts }) => [name, parts])

describe('a stream of a step', () => {
  it('S1 shows the first chunk at once and then one chunk every 100 ms', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const reader = await watcher(harness, id)
    await harness.settled()
    const out = attempts[0]?.step.stream('out')
    out?.write('a')
    await harness.settled()
    expect(reader.frames).toEqual([{ text: 'a', append: false, state: 'open' }])
    for (const text of 'bcdef') out?.write(text)
    await harness.settled()
    expect(reader.frames).toHaveLength(1)
    await harness.pass(100)
    expect(reader.frames[1]).toEqual({ text: 'bcdef', append: true, state: 'open' })
    await harness.pass(1_000)
    expect(reader.frames).toHaveLength(2)
    out?.write('g')
    await harness.settled()
    expect(reader.frames[2]).toEqual({ text: 'g', append: true, state: 'open' })
  })

  it('S2 makes one record with the step, however often it is written to', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const before = (await harness.log(id)).length
    const out = attempts[0]?.step.stream('out')
    for (let n = 0; n < 100_000; n++) out?.write('word ')
    await harness.pass(1_000)
    expect(await harness.log(id)).toHaveLength(before)
    expect((await harness.get(id)).artifacts).toEqual([])
    attempts[0]?.end()
    const task = await harness.until(id, 'completed')
    const types = (await harness.types(id)).slice(before)
    expect(types).toEqual(['artifact', 'step', 'completed'])
    expect(task.artifacts).toMatchObject([
      { name: 'out', parts: [{ text: 'word '.repeat(100_000) }] },
    ])
  })

  it('T3 gives a reader that saw it live only the rest, and the finished task the whole', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const reader = await watcher(harness, id)
    const out = attempts[0]?.step.stream('out')
    out?.write('Hel')
    await harness.settled()
    out?.write('lo')
    attempts[0]?.end()
    await harness.until(id, 'completed')
    await harness.settled()
    expect(reader.frames).toEqual([
      { text: 'Hel', append: false, state: 'open' },
      { text: 'lo', append: true, state: 'recorded' },
    ])
    expect(await artifactText(harness, id)).toEqual([['out', [{ text: 'Hello' }]]])
  })

  it.each(['retry', 'pause', 'crash'] as const)(
    'is never mixed of two attempts after a %s (text "F0 … F7 L8 L9")',
    async (how) => {
      const { agent, attempts } = stage(how === 'retry' ? { retry: { attempts: 1 } } : {})
      let harness = await createHarness({ agents: [agent] })
      const { id } = await harness.send('go')
      await harness.settled()
      let reader = await watcher(harness, id)
      for (let n = 0; n < 8; n++) attempts[0]?.step.stream('out').write(`F${n} `)
      await harness.pass(100)
      expect(reader.text()).toMatch(/^F0 .*F7 $/)
      if (how === 'retry') attempts[0]?.end(new Error('once more'))
      if (how === 'pause') {
        await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
        await harness.until(id, 'paused-by-client')
        await harness.settled()
        expect(reader.text()).toBeUndefined()
        await harness.engine.resume(alice, { taskId: id })
      }
      if (how === 'crash') {
        harness = await harness.recover()
        reader = await watcher(harness, id)
      }
      await harness.pass(1_000)
      expect(reader.text()).toBeUndefined()
      for (let n = 0; n < 10; n++) attempts[1]?.step.stream('out').write(`L${n} `)
      await harness.pass(100)
      const late = 'L0 L1 L2 L3 L4 L5 L6 L7 L8 L9 '
      expect(reader.text()).toBe(late)
      attempts[1]?.end()
      await harness.until(id, 'completed')
      await harness.settled()
      expect(reader.text()).toBe(late)
      expect(await artifactText(harness, id)).toEqual([['out', [{ text: late }]]])
    },
  )

  it('T4 is discarded, for readers too, when its task ends without its record', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const reader = await watcher(harness, id)
    attempts[0]?.step.stream('out').write('half')
    await harness.settled()
    await harness.engine.cancel(alice, { taskId: id })
    await harness.until(id, 'canceled')
    await harness.settled()
    expect(reader.frames.at(-1)).toEqual({ text: '', append: false, state: 'discarded' })
    expect((await harness.get(id)).artifacts).toEqual([])
  })

  it('is discarded when its step fails for good', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const reader = await watcher(harness, id)
    attempts[0]?.step.stream('out').write('half')
    await harness.settled()
    attempts[0]?.end(new Error('no'))
    await harness.until(id, 'failed')
    await harness.settled()
    expect(reader.text()).toBeUndefined()
    expect((await harness.get(id)).artifacts).toEqual([])
  })

  it('goes on for a reader that comes back with what it holds, also when the text was recorded meanwhile', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const out = attempts[0]?.step.stream('out')
    out?.write('Hello')
    await harness.settled()
    const first = await harness.engine.follow(alice, id, { after: (await harness.get(id)).version })
    const given = await first.next()
    if (given === undefined || !('chunks' in given)) throw new Error('no live text')
    first.close()
    const { artifact, attempt } = given.chunks[0] as TextChunk
    const shown = [{ artifactId: artifact.artifactId, attempt, length: 3 }]
    const again = await watcher(harness, id, shown)
    await harness.settled()
    expect(again.frames).toEqual([{ text: 'lo', append: true, state: 'open' }])
    attempts[0]?.end()
    await harness.until(id, 'completed')
    const late = await watcher(harness, id, shown)
    await harness.settled()
    expect(late.frames).toEqual([{ text: 'lo', append: true, state: 'recorded' }])
  })

  it('S3 refuses what is written after its attempt, and shows nothing of it', async () => {
    const { agent, attempts } = stage({ retry: { attempts: 1 } })
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const reader = await watcher(harness, id)
    const out = attempts[0]?.step.stream('out')
    attempts[0]?.end(new Error('once more'))
    await harness.pass(1_000)
    expect(() => out?.write('late')).toThrow(/attempt is over/)
    attempts[1]?.end()
    await harness.until(id, 'completed')
    expect(() => attempts[1]?.step.stream('out').write('late')).toThrow(/attempt is over/)
    expect(reader.frames).toEqual([])
  })

  it('S4 is one stream by its name, and one artifact across attempts', async () => {
    const { agent, attempts } = stage({ retry: { attempts: 1 } })
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const { artifactId } = attempts[0]?.step.stream('out') ?? {}
    attempts[0]?.step.stream('out').write('a')
    attempts[0]?.end(new Error('once more'))
    await harness.pass(1_000)
    attempts[1]?.step.stream('out').write('b')
    attempts[1]?.step.stream('out').write('c')
    attempts[1]?.step.stream('other').write('d')
    attempts[1]?.step.stream('silent')
    attempts[1]?.end()
    const { artifacts } = await harness.until(id, 'completed')
    expect(artifacts).toMatchObject([
      { artifactId, name: 'out', parts: [{ text: 'bc' }] },
      { name: 'other', parts: [{ text: 'd' }] },
    ])
  })

  it('S5 keeps to the limit of a result, together with the result, and says what to do', async () => {
    const agent = running(async (task) => {
      const write = (text: string, result: string) =>
        task
          .step('talk', ({ stream }) => {
            stream('out').write(text)
            return result
          })
          .catch((error: Error) => error.message)
      await task.artifact({
        name: 'said',
        data: [await write('x'.repeat(101), ''), await write('x'.repeat(60), 'y'.repeat(60))],
      })
    })
    const harness = await createHarness({ agents: [agent], options: { stepResultBytes: 100 } })
    const { id } = await harness.send('go')
    const { artifacts } = await harness.until(id, 'completed')
    expect(artifacts).toMatchObject([
      {
        name: 'said',
        parts: [
          {
            data: [
              expect.stringContaining('raise stepResultBytes'),
              expect.stringContaining('result and its streams have 122 bytes, more than 100'),
            ],
          },
        ],
      },
    ])
  })

  it('that is recorded does not stop a rebuilt run, which goes on behind it', async () => {
    const agent = running(async (task) => {
      await task.step('talk', ({ stream }) => stream('x#1/step:y').write('Hello'))
      await task.park({ reason: 'lunch' })
      await task.step('after', () => 'done')
    })
    let harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    harness = await harness.recover()
    await harness.engine.resume(alice, { taskId: id })
    await harness.until(id, 'completed')
    expect(await artifactText(harness, id)).toEqual([['x#1/step:y', [{ text: 'Hello' }]]])
  })

  it('holds half a character back until its other half is written', async () => {
    const { agent, attempts } = stage()
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    await harness.settled()
    const reader = await watcher(harness, id)
    attempts[0]?.step.stream('out').write('a\ud83d')
    await harness.settled()
    attempts[0]?.step.stream('out').write('\ude80')
    await harness.pass(100)
    expect(reader.frames.map(({ text }) => text)).toEqual(['a', '🚀'])
  })
})

describe('inside a step', () => {
  it.each(['artifactStream', 'append'])('%s is refused, naming stream(name)', async (what) => {
    const agent = running((task) =>
      task.step('talk', async () => {
        if (what === 'append') await task.artifact({ name: 'a', text: 'b' }, { append: true })
        else await task.artifactStream('a').write('b')
      }),
    )
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    expect((await harness.until(id, 'failed')).failure?.message).toContain('stream(name)')
  })
})
