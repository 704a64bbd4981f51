/** The live text of steps on the wire: frames, ids, and what a client that folds them holds. */
import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import type { StepContext } from '../../../engine/author/agent-task.ts'
import { signal } from '../../../engine/test-support/engine-harness.ts'
import { all, type Frame, take } from '../test-support/frames.ts'
import {
  anyone,
  type Loose,
  openTestServer,
  type TestServer,
  textMessage,
} from '../test-support/test-server.ts'

interface Attempt {
  readonly step: StepContext
  end(error?: Error): void
}

/** One step that hands its context to the test and ends when told. */
function talker(): {
  attempts: Attempt[]
  begun: () => Promise<void>
  agents: readonly [ReturnType<typeof agent>]
} {
  const attempts: Attempt[] = []
  let begun = signal()
  const made = agent({
    name: 'talker',
    description: 'streams what the test says',
    run: (task) =>
      task.step(
        'talk',
        async (step) => {
          const over = signal()
          step.signal.addEventListener('abort', () => over.fail(step.signal.reason as Error))
          const end = (error?: Error) => (error === undefined ? over.fire() : over.fail(error))
          attempts.push({ step, end })
          begun.fire()
          begun = signal()
          await over.promise
        },
        { retry: { attempts: 1, backoffMs: 1 } },
      ),
  })
  return { attempts, begun: () => begun.promise, agents: [made] }
}

async function start(testServer: TestServer): Promise<string> {
  const configuration = { returnImmediately: true }
  const message = textMessage('1.0', 'go')
  const { task } = await testServer.ok('1.0', 'SendMessage', { message, configuration })
  return task.id
}

const updateOf = ({ data: { result } }: Frame): Loose =>
  result.artifactUpdate ?? (result.kind === 'artifact-update' ? result : undefined)

/** As an unaware client folds: append adds parts, everything else replaces; a Task replaces all. */
function fold(frames: readonly Frame[]): string {
  let artifacts: readonly Loose[] = []
  for (const frame of frames) {
    const { task } = frame.data.result
    if (task !== undefined) artifacts = task.artifacts ?? []
    const update = updateOf(frame)
    if (update === undefined) continue
    const { artifact, append } = update
    const known = artifacts.find(({ artifactId }) => artifactId === artifact.artifactId)
    const parts = append ? [...(known?.parts ?? []), ...artifact.parts] : artifact.parts
    artifacts = [...artifacts.filter((one) => one !== known), { ...artifact, parts }]
  }
  return artifacts.flatMap(({ parts }) => parts.map((part: Loose) => part.text)).join('')
}

describe('a stream of live text', () => {
  it.each([
    ['1.0', 'SubscribeToTask'],
    ['0.3', 'tasks/resubscribe'],
  ] as const)(
    'in %s is an artifact that grows and is closed by what it lacks',
    async (version, method) => {
      const { attempts, begun, agents } = talker()
      const testServer = await openTestServer({ agents })
      const begin = begun()
      const id = await start(testServer)
      await begin
      const stream = await testServer.stream(version, method, { id })
      await take(stream, 1)
      const out = attempts[0]?.step.stream('out')
      out?.write('Hel')
      const [first] = await take(stream, 1)
      out?.write('lo')
      const task = await testServer.ok('1.0', 'GetTask', { id })
      expect(task.artifacts).toBeUndefined()
      attempts[0]?.end()
      const rest = await all(stream)
      const facts = (frame: Frame | undefined) => {
        const { artifact, append, lastChunk, metadata } = updateOf(frame as Frame)
        return [artifact.parts.map((part: Loose) => part.text), append, lastChunk, metadata]
      }
      expect(facts(first)).toEqual([
        ['Hel'],
        false,
        false,
        { 'urn:lull:a2a:streams:1': { state: 'open' } },
      ])
      expect(facts(rest[0])).toEqual([
        ['lo'],
        true,
        true,
        { 'urn:lull:a2a:streams:1': { state: 'recorded' } },
      ])
      const ended = await testServer.ok('1.0', 'GetTask', { id })
      expect(ended.artifacts).toMatchObject([{ name: 'out', parts: [{ text: 'Hello' }] }])
    },
  )

  it('continued from any of its frames is neither lost nor repeated, while it is open and after', async () => {
    const { attempts, begun, agents } = talker()
    const testServer = await openTestServer({ agents })
    const begin = begun()
    const id = await start(testServer)
    await begin
    const stream = await testServer.stream('1.0', 'SubscribeToTask', { id })
    const frames = [...(await take(stream, 1))]
    const out = attempts[0]?.step.stream('out')
    for (const text of ['Hel', 'lo ', 'wor']) {
      out?.write(text)
      frames.push(...(await take(stream, 1)))
      testServer.clock.advance(100)
    }
    for (const [index, { id: last }] of frames.entries()) {
      const again = await testServer.stream(
        '1.0',
        'SubscribeToTask',
        { id },
        { 'last-event-id': last },
      )
      const missing = index === frames.length - 1 ? [] : await take(again, 1)
      expect(fold([...frames.slice(0, index + 1), ...missing])).toBe('Hello wor')
      await again.return()
    }
    out?.write('ld')
    attempts[0]?.end()
    frames.push(...(await all(stream)))
    expect(fold(frames)).toBe('Hello world')
    for (const [index, { id: last }] of frames.slice(0, -1).entries()) {
      const again = await testServer.stream(
        '1.0',
        'SubscribeToTask',
        { id },
        { 'last-event-id': last },
      )
      expect(fold([...frames.slice(0, index + 1), ...(await all(again))])).toBe('Hello world')
    }
  })

  it('starts anew with the next attempt, live and for a reader that comes back', async () => {
    const { attempts, begun, agents } = talker()
    const testServer = await openTestServer({ agents })
    let begin = begun()
    const id = await start(testServer)
    await begin
    const stream = await testServer.stream('1.0', 'SubscribeToTask', { id })
    const frames = [...(await take(stream, 1))]
    attempts[0]?.step.stream('out').write('first')
    frames.push(...(await take(stream, 1)))
    const left = [...frames]
    begin = begun()
    attempts[0]?.end(new Error('once more'))
    frames.push(...(await take(stream, 1)))
    expect(updateOf(frames.at(-1) as Frame)).toMatchObject({
      append: false,
      lastChunk: true,
      artifact: { parts: [{ text: '' }] },
      metadata: { 'urn:lull:a2a:streams:1': { state: 'discarded' } },
    })
    await testServer.engine.waitFor(anyone, id, (task) => task.version > 2)
    while (attempts.length < 2) {
      testServer.clock.advance(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await begin
    attempts[1]?.step.stream('out').write('second')
    frames.push(...(await take(stream, 1)))
    expect(fold(frames)).toBe('second')
    const last = left.at(-1)?.id ?? ''
    const again = await testServer.stream(
      '1.0',
      'SubscribeToTask',
      { id },
      { 'last-event-id': last },
    )
    expect(fold([...left, ...(await take(again, 1))])).toBe('second')
    attempts[1]?.end()
    expect(fold([...frames, ...(await all(stream))])).toBe('second')
  })

  it('of a task that is canceled in another process is emptied for a reader that comes back', async () => {
    const { attempts, begun, agents } = talker()
    let testServer = await openTestServer({ agents })
    let begin = begun()
    const id = await start(testServer)
    await begin
    const stream = await testServer.stream('1.0', 'SubscribeToTask', { id })
    const frames = [...(await take(stream, 1))]
    attempts[0]?.step.stream('out').write('half')
    frames.push(...(await take(stream, 1)))
    begin = begun()
    // The process dies: another one takes over what it left.
    testServer.a2a.close()
    testServer = await openTestServer({ agents, store: testServer.store, clock: testServer.clock })
    await begin
    await testServer.ok('1.0', 'CancelTask', { id })
    const last = frames.at(-1)?.id ?? ''
    const rest = await testServer.stream(
      '1.0',
      'SubscribeToTask',
      { id },
      { 'last-event-id': last },
    )
    frames.push(...(await all(rest)))
    expect(fold(frames)).toBe('')
    expect(frames.at(-1)?.data.result.statusUpdate.status.state).toBe('TASK_STATE_CANCELED')
  })

  it('opened by a send shows the text of the step it started', async () => {
    const { attempts, begun, agents } = talker()
    const testServer = await openTestServer({ agents })
    const begin = begun()
    const stream = await testServer.stream('1.0', 'SendStreamingMessage', {
      message: textMessage('1.0', 'go'),
    })
    const frames = [...(await take(stream, 1))]
    await begin
    attempts[0]?.step.stream('out').write('Hel')
    while (fold(frames) !== 'Hel') frames.push(...(await take(stream, 1)))
    attempts[0]?.step.stream('out').write('lo')
    attempts[0]?.end()
    expect(fold([...frames, ...(await all(stream))])).toBe('Hello')
  })
})
