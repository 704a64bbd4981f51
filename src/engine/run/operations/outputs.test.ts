import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../core/values/json.ts'
import type { AgentTask, ArtifactInput } from '../../author/agent-task.ts'
import { alice, createHarness, dataOf, running } from '../../test-support/engine-harness.ts'

async function ended(run: (task: AgentTask) => Promise<unknown>, warmForMs = 60_000) {
  const agent = running(async (task) => {
    await run(task)
  })
  const harness = await createHarness({ agents: [agent], options: { warmForMs } })
  const { id } = await harness.send('go')
  await harness.settled()
  for (let stops = 0; stops < 5; stops++) {
    if ((await harness.get(id)).suspension === undefined) break
    await harness.engine.resume(alice, { taskId: id })
    await harness.settled()
  }
  return { harness, task: await harness.until(id, 'completed') }
}

describe('what a run tells', () => {
  it('becomes the status; the one before it becomes history', async () => {
    const { task } = await ended(async (run) => {
      await run.say('one')
      await run.progress(0.5, 'two')
      await run.progress(0.75)
      await run.say([{ text: 'three' }, { data: null }])
    })
    expect(task.progress).toBe(0.75)
    expect(task.history.slice(1).map(({ parts }) => parts)).toEqual([
      [{ text: 'one' }],
      [{ text: 'two' }],
      [{ text: 'three' }, { data: null }],
    ])
  })

  it('is told once, however often the run is rebuilt', async () => {
    const { task } = await ended(async (run) => {
      await run.say('one')
      await run.artifact({ name: 'a', text: 'x' })
      await run.usage({ inputTokens: 10, costUsd: 0.5 })
      await run.park({ reason: 'x' })
      await run.usage({ inputTokens: 5, outputTokens: 2 })
      await run.park({ reason: 'y' })
    }, 0)
    expect(task.artifacts).toHaveLength(1)
    expect(task.usage).toEqual({ inputTokens: 15, outputTokens: 2, costUsd: 0.5 })
    expect(task.history).toHaveLength(2)
  })

  it('of what is wrong is refused, and nothing is written', async () => {
    const wrong: ((task: AgentTask) => Promise<unknown>)[] = [
      (task) => task.progress(2),
      (task) => task.progress(Number.NaN),
      (task) => task.artifact({ name: 'empty' }),
      (task) => task.artifact({ name: 'x', base64: 'no base64!' }),
      (task) => task.artifact({ name: 'x', data: { f: () => 1 } } as unknown as ArtifactInput),
      (task) => task.say([{}] as never),
      (task) => task.usage({ costUsd: -1 }),
      (task) => task.usage({ inputTokens: Number.NaN }),
      (task) => task.usage({ tokens: 1 } as never),
      (task) => task.ask('?', { expiresAt: 'soon' as never }),
      (task) => task.requireConsent({ prompt: '', operation: 1 }),
      (task) => task.requireConsent({ prompt: '?', operation: undefined as never }),
      (task) => task.sleep(-1),
      (task) => task.sleep(1e300),
      (task) => task.turn((turn) => turn.record('agent', 1n as never)),
      (task) => task.delegate('nobody', 'x'),
    ]
    const codes: string[] = []
    const { harness, task } = await ended(async (run) => {
      for (const call of wrong) {
        await call(run).catch((error: { code: string }) => codes.push(error.code))
      }
    })
    expect(codes).toEqual([...Array(15).fill('INVALID_INPUT'), 'AGENT_UNKNOWN'])
    const types = (await harness.types(task.id)).filter((type) => !type.startsWith('turn-'))
    expect(types).toEqual(['submitted', 'started', 'completed'])
  })
})

describe('an artifact', () => {
  it('is made of text, data, bytes and parts', async () => {
    const { task } = await ended(async (run) => {
      await run.artifact({
        name: 'all',
        description: 'of everything',
        text: 't',
        data: { n: null },
        base64: 'aGk=',
        parts: [{ url: 'https://example.org' }],
        mediaType: 'text/plain',
        metadata: { k: 1 },
      })
    })
    expect(task.artifacts).toEqual([
      {
        artifactId: expect.any(String) as string,
        name: 'all',
        description: 'of everything',
        metadata: { k: 1 },
        parts: [
          { text: 't', mediaType: 'text/plain' },
          { data: { n: null }, mediaType: 'text/plain' },
          { raw: 'aGk=', mediaType: 'text/plain', filename: 'all' },
          { url: 'https://example.org' },
        ],
      },
    ])
  })

  it('grows by appending to the newest of its name; without that, the same name is another one', async () => {
    const { task } = await ended(async (run) => {
      await run.artifact({ name: 'log', text: 'a' })
      await run.artifact({ name: 'log', text: 'b' }, { append: true })
      await run.artifact({ name: 'log', text: 'c' })
      await run.artifact({ name: 'log', text: 'd' }, { append: true })
    })
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([
      [{ text: 'a' }, { text: 'b' }],
      [{ text: 'c' }, { text: 'd' }],
    ])
  })

  it('can be streamed in chunks, also across a stop', async () => {
    const { task } = await ended(async (run) => {
      const stream = run.artifactStream('report')
      await stream.write('one ')
      await run.park({ reason: 'coffee' })
      await stream.write({ text: 'two' })
      await stream.close()
    }, 0)
    const [report, ...more] = task.artifacts
    expect(more).toEqual([])
    expect(report?.parts).toEqual([{ text: 'one ' }, { text: 'two' }, { text: '' }])
  })

  it('of what no store can keep fails its task, not the store', async () => {
    const metadata = { n: 10n } as unknown as JsonObject
    const agent = running(async () => ({ name: 'x', text: 'y', metadata }))
    const harness = await createHarness({ agents: [agent] })
    const { id } = await harness.send('go')
    const task = await harness.until(id, 'failed')
    expect(JSON.stringify(task)).toContain('artifact.metadata')
  })

  it('may name what it does not have, as JSON does', async () => {
    const { task } = await ended((run) =>
      run.artifact({ name: 'n', text: 'x', parts: null } as unknown as ArtifactInput),
    )
    expect(task.artifacts).toMatchObject([{ name: 'n', parts: [{ text: 'x' }] }])
  })

  it('may be the outcome itself', async () => {
    const harness = await createHarness({ agents: [running(() => ({ name: 'result', data: 42 }))] })
    const { id } = await harness.send('go')
    expect(dataOf(await harness.until(id, 'completed'), 'result')).toBe(42)
  })
})

describe('the transcript', () => {
  it('grows with the turns, is compacted over its limit, and is the same for a rebuilt run', async () => {
    const seen: Json[] = []
    const agent = running(
      async (task) => {
        for (let n = 0; n < 3; n++) {
          await task.turn((turn) => {
            turn.record('agent', n)
            turn.record('tool', null)
          })
        }
        await task.park({ reason: 'x' })
        await task.turn((turn) => {
          seen.push(turn.transcript.map(({ content }) => content as Json))
        })
      },
      { transcriptLimit: 4, compact: (transcript) => transcript.slice(-2) },
    )
    for (const warmForMs of [60_000, 0]) {
      const harness = await createHarness({ agents: [agent], options: { warmForMs } })
      const { id } = await harness.send('go')
      await harness.until(id, 'paused-by-agent')
      await harness.engine.resume(alice, { taskId: id })
      await harness.until(id, 'completed')
    }
    expect(seen).toEqual([
      [1, null, 2, null],
      [1, null, 2, null],
    ])
  })
})

describe('a long log', () => {
  it('verifies also when it is read back from a snapshot', async () => {
    const agent = running(async (task) => {
      for (let n = 0; n < 70; n++) await task.say(`${n}`)
      await task.park({ reason: 'x' })
      for (let n = 0; n < 10; n++) await task.progress(n / 10)
      await task.park({ reason: 'y' })
    })
    const first = await createHarness({ agents: [agent] })
    const { id } = await first.send('go')
    await first.until(id, 'paused-by-agent')
    const second = await first.recover()
    await second.engine.resume(alice, { taskId: id })
    await second.until(id, (task) => task.epoch === 2)
    expect((await second.engine.verify(alice, id)).faults).toEqual([])
    await second.engine.cancel(alice, { taskId: id })
    expect((await second.engine.verify(alice, id)).faults).toEqual([])
  })
})
