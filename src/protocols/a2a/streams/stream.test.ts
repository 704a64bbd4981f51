/** Cites R1 to R4 of stream.ts. */
import { describe, expect, it } from 'vitest'
import { agent } from '../../../engine/author/agent.ts'
import { signal } from '../../../engine/test-support/engine-harness.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import { createScriptAgent } from '../../../testing/script-agent/script-agent.ts'
import { all, type Frame, take } from '../test-support/frames.ts'
import {
  anyone,
  openTestServer,
  scripted,
  type TestServer,
  textMessage,
} from '../test-support/test-server.ts'

const uuid = '019abf6b-7d51-7c1d-bb02-000000000001'

async function immediate(
  testServer: TestServer,
  ops: readonly unknown[],
  some = {},
): Promise<string> {
  const configuration = { returnImmediately: true }
  const message = scripted('1.0', ops, some)
  const { task } = await testServer.ok('1.0', 'SendMessage', { message, configuration })
  return task.id
}

const until = (testServer: TestServer, id: string, state: string) =>
  testServer.engine.waitFor(anyone, id, (task) => task.state === state)

function states(frames: readonly Frame[]): readonly (string | undefined)[] {
  return frames.flatMap(({ data }) => {
    const update = data.result?.statusUpdate ?? data.result?.task
    return update === undefined ? [] : [update.status.state.replace('TASK_STATE_', '')]
  })
}

const steps = (count: number): readonly unknown[] => [
  ...Array.from({ length: count }, (_, n) => ({ say: `step ${n}` })),
  { ask: 'Go on?' },
  ...Array.from({ length: count }, (_, n) => ({ say: `more ${n}` })),
  { complete: 'done' },
]

describe('a stream', () => {
  it('R1: begins with the task and gives every frame an id that grows', async () => {
    const testServer = await openTestServer()
    const message = scripted('1.0', [{ say: 'a' }, { artifact: { name: 'x', text: 'y' } }])
    const frames = await all(await testServer.stream('1.0', 'SendStreamingMessage', { message }))
    expect(Object.keys(frames[0]?.data.result)).toEqual(['task'])
    const places = frames.map(({ id }) => id.split('.').map(Number) as [number, number])
    for (const [index, [seq, n]] of places.entries()) {
      const [before, m] = places[index - 1] ?? [0, 0]
      expect(seq > before || (seq === before && n > m)).toBe(true)
    }
  })

  it('is one message where the agent answers with one', async () => {
    const testServer = await openTestServer()
    for (const version of ['1.0', '0.3'] as const) {
      const method = version === '1.0' ? 'SendStreamingMessage' : 'message/stream'
      const message = scripted(version, [{ reply: 'hi' }])
      const frames = await all(await testServer.stream(version, method, { message }))
      expect(frames).toHaveLength(1)
      expect(frames[0]?.data.result.message ?? frames[0]?.data.result).toMatchObject({
        parts: [expect.objectContaining({ text: 'hi' })],
      })
    }
  })

  it('R2: continued from any frame it gives exactly the rest, also in another process', async () => {
    let testServer = await openTestServer()
    const id = await immediate(testServer, steps(3))
    await until(testServer, id, 'input-required')
    const stream = await testServer.stream('1.0', 'SubscribeToTask', { id })
    const [snapshot] = await take(stream, 1)
    await testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'go', { taskId: id }) })
    const whole = [snapshot as Frame, ...(await all(stream))]
    testServer = await testServer.restart()
    for (const [index, { id: last }] of whole.entries()) {
      const rest = await testServer.stream(
        '1.0',
        'SubscribeToTask',
        { id },
        { 'last-event-id': last },
      )
      expect((await all(rest)).map((frame) => frame.id)).toEqual(
        whole.slice(index + 1).map((frame) => frame.id),
      )
    }
  })

  it('R2: a subscription survives a restart in the middle, nothing lost or repeated', async () => {
    let testServer = await openTestServer()
    const id = await immediate(testServer, [
      { say: 'one' },
      { ask: 'ok?' },
      { say: 'two' },
      { complete: 'x' },
    ])
    await until(testServer, id, 'input-required')
    const before = await take(await testServer.stream('1.0', 'SubscribeToTask', { id }), 1)
    testServer = await testServer.restart()
    const rest = await testServer.stream(
      '1.0',
      'SubscribeToTask',
      { id },
      { 'last-event-id': before[0]?.id ?? '' },
    )
    const message = textMessage('1.0', 'yes', { taskId: id })
    await testServer.ok('1.0', 'SendMessage', { message })
    expect(states([...before, ...(await all(rest))])).toEqual([
      'INPUT_REQUIRED',
      'WORKING',
      'WORKING',
      'COMPLETED',
    ])
  })

  it('R2: a repeated stream request goes on after the last id', async () => {
    const testServer = await openTestServer()
    const message = scripted('1.0', [{ say: 'a' }, { say: 'b' }], { messageId: uuid })
    const whole = await all(await testServer.stream('1.0', 'SendStreamingMessage', { message }))
    const last = { 'last-event-id': whole[1]?.id ?? '' }
    const rest = await all(
      await testServer.stream('1.0', 'SendStreamingMessage', { message }, last),
    )
    expect(rest.map((frame) => frame.id)).toEqual(whole.slice(2).map((frame) => frame.id))
    const ended = { 'last-event-id': whole.at(-1)?.id ?? '' }
    expect(
      await all(await testServer.stream('1.0', 'SendStreamingMessage', { message }, ended)),
    ).toEqual([])
  })

  it('R2: of a task that ended as it was sent, it is what the log says', async () => {
    const testServer = await openTestServer()
    const ops = [{ artifact: { name: 'x', text: 'y' } }, { complete: 'done' }]
    for (const [version, stream, subscribe] of [
      ['1.0', 'SendStreamingMessage', 'SubscribeToTask'],
      ['0.3', 'message/stream', 'tasks/resubscribe'],
    ] as const) {
      const message = scripted(version, ops)
      const [first, ...sent] = await all(await testServer.stream(version, stream, { message }))
      const { id } = first?.data.result.task ?? first?.data.result ?? {}
      const last = { 'last-event-id': first?.id ?? '' }
      const logged = await all(await testServer.stream(version, subscribe, { id }, last))
      const said = (frames: readonly Frame[]) =>
        frames.map((frame) => [frame.id, frame.data.result])
      expect(sent.length).toBeGreaterThan(1)
      expect(said(sent)).toEqual(said(logged))
    }
    expect((await testServer.engine.health()).subscribers).toBe(0)
  })

  it('starts with a snapshot when the last id is not one of ours', async () => {
    const testServer = await openTestServer()
    const id = await immediate(testServer, [{ ask: 'ok?' }])
    for (const last of ['garbage', '99999.1', '-1.0', '0.0', '0.5', '00.0', '1', '1.2.3']) {
      const frames = await testServer.stream(
        '1.0',
        'SubscribeToTask',
        { id },
        { 'last-event-id': last },
      )
      expect((await take(frames, 1))[0]?.data.result.task.id).toBe(id)
      await frames.return()
    }
  })

  it('R3: opened by a send it closes when the task asks; a subscription goes on to the end', async () => {
    const testServer = await openTestServer()
    const message = scripted('1.0', [{ ask: 'ok?' }, { complete: 'x' }])
    const sent = await all(await testServer.stream('1.0', 'SendStreamingMessage', { message }))
    expect(states(sent).at(-1)).toBe('INPUT_REQUIRED')
    const id = sent[0]?.data.result.task.id
    const subscribed = await testServer.stream('1.0', 'SubscribeToTask', { id })
    await take(subscribed, 1)
    await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'yes', { taskId: id }),
    })
    expect(states(await all(subscribed))).toEqual(['WORKING', 'COMPLETED'])
  })

  it('R3: 0.3 marks the frame that closes as final, and only that one', async () => {
    const testServer = await openTestServer()
    const message = scripted('0.3', [{ say: 'a' }, { ask: 'ok?' }])
    const frames = await all(await testServer.stream('0.3', 'message/stream', { message }))
    expect(frames.map(({ data }) => data.result.final)).toEqual([undefined, false, true])
    const subscribed = await testServer.stream('0.3', 'tasks/resubscribe', {
      id: frames[0]?.data.result.id,
    })
    await take(subscribed, 1)
    const answer = textMessage('0.3', 'yes', { taskId: frames[0]?.data.result.id })
    await testServer.ok('0.3', 'message/send', { message: answer })
    expect((await all(subscribed)).map(({ data }) => data.result.final)).toEqual([false, true])
  })

  it('R4: stays open while the task is stopped', async () => {
    const testServer = await openTestServer()
    const ops = [{ park: { reason: 'wait', conditions: { onEvent: 'go' } } }, { complete: 'x' }]
    const stream = await testServer.stream('1.0', 'SendStreamingMessage', {
      message: scripted('1.0', ops),
    })
    const [first, parked] = await take(stream, 2)
    expect(parked?.data.result.statusUpdate).toMatchObject({
      status: { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'wait' }] } },
      metadata: { 'urn:lull:a2a:task-control:1': { state: 'paused-by-agent' } },
    })
    await testServer.ok('1.0', 'tasks/resume', { taskId: first?.data.result.task.id })
    expect(states(await all(stream))).toEqual(['WORKING', 'COMPLETED'])
  })

  const CONTROL = 'urn:lull:a2a:task-control:1'
  const busy = [{ step: 'long', ms: 60_000 }, { complete: 'x' }]

  it('tells of a pause that waits for a step, of its commit, and of the resume', async () => {
    const testServer = await openTestServer()
    const message = scripted('1.0', busy)
    const stream = await testServer.stream('1.0', 'SendStreamingMessage', { message })
    const [first] = await take(stream, 1)
    const taskId = first?.data.result.task.id
    const { handle, requestedAt } = await testServer.ok('1.0', 'tasks/pause', {
      taskId,
      reason: 'lunch',
      graceMs: 0,
    })
    const [pausing] = await take(stream, 1)
    expect(pausing?.data.result.statusUpdate).toMatchObject({
      status: {
        state: 'TASK_STATE_WORKING',
        timestamp: requestedAt,
      },
      metadata: {
        [CONTROL]: { state: 'active', pausing: true, handle, requestedAt, reason: 'lunch' },
        harn: { pause: { state: 'working', pausing: true, handle } },
      },
    })
    expect(pausing?.data.result.statusUpdate.status).not.toHaveProperty('message')
    testServer.clock.advance(60_000)
    const [paused] = await take(stream, 1)
    expect(paused?.data.result.statusUpdate.metadata[CONTROL]).toMatchObject({
      state: 'paused-by-client',
      handle,
    })
    await testServer.ok('1.0', 'tasks/resume', { taskId })
    expect(states(await all(stream))).toEqual(['WORKING', 'COMPLETED'])
  })

  it('tells that such a pause was taken back, in 0.3 as well', async () => {
    const testServer = await openTestServer()
    const message = scripted('0.3', busy)
    const stream = await testServer.stream('0.3', 'message/stream', { message })
    const [first] = await take(stream, 1)
    const taskId = first?.data.result.id
    await testServer.ok('0.3', 'tasks/pause', { taskId, graceMs: 0 })
    await testServer.ok('0.3', 'tasks/resume', { taskId, input: 'go' })
    const [pausing, active] = await take(stream, 2)
    expect(pausing?.data.result).toMatchObject({
      status: { state: 'working' },
      final: false,
      metadata: { [CONTROL]: { pausing: true } },
    })
    expect(active?.data.result).toMatchObject({
      status: { state: 'working' },
      metadata: {
        [CONTROL]: { state: 'active', previousState: 'working', hadResumeInput: true },
      },
    })
    testServer.clock.advance(60_000)
    expect((await all(stream)).at(-1)?.data.result.status.state).toBe('completed')
  })

  it('tells of a pause that commits at once in one frame', async () => {
    const script = createScriptAgent({
      clock: createManualClock(),
      effects: () => undefined as never,
    })
    const testServer = await openTestServer({ agents: [{ ...script, concurrency: 1 }] })
    await immediate(testServer, busy)
    // It waits for a slot: nothing of it is in flight.
    const taskId = await immediate(testServer, busy)
    const stream = await testServer.stream('1.0', 'SubscribeToTask', { id: taskId })
    await take(stream, 1)
    await testServer.ok('1.0', 'tasks/pause', { taskId })
    await testServer.ok('1.0', 'tasks/resume', { taskId })
    const said = (await take(stream, 2)).map(
      ({ data }) => data.result.statusUpdate.metadata[CONTROL].state,
    )
    expect(said).toEqual(['paused-by-client', 'active'])
    await testServer.ok('1.0', 'CancelTask', { id: taskId })
    expect(states(await all(stream))).toEqual(['CANCELED'])
  })

  it('gives two readers the same events, and one that leaves disturbs neither the other nor the task', async () => {
    const testServer = await openTestServer()
    const id = await immediate(testServer, [{ ask: 'ok?' }, { say: 'a' }, { complete: 'x' }])
    await until(testServer, id, 'input-required')
    const open = () => testServer.stream('1.0', 'SubscribeToTask', { id })
    const [one, two, three] = [await open(), await open(), await open()]
    await take(three, 1)
    await three.return()
    await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'yes', { taskId: id }),
    })
    const strip = (frames: readonly Frame[]) => frames.map(({ id: at, data }) => [at, data.result])
    const [a, b] = [strip(await all(one)), strip(await all(two))]
    expect(a).toEqual(b)
    expect((await testServer.engine.health()).subscribers).toBe(0)
  })

  it('lets two thousand readers read, however slow one of them is', async () => {
    const testServer = await openTestServer()
    const ops = [{ ask: 'ok?' }, ...Array.from({ length: 5 }, (_, n) => ({ say: `${n}` }))]
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, n) => immediate(testServer, ops, { messageId: `many-${n}` })),
    )
    await Promise.all(ids.map((id) => until(testServer, id, 'input-required')))
    const open = (id: string) => testServer.stream('1.0', 'SubscribeToTask', { id })
    const slow = await open(ids[0] ?? '')
    const readers = await Promise.all(
      Array.from({ length: 2_000 }, (_, n) => open(ids[n % ids.length] ?? '')),
    )
    await take(slow, 1)
    const read = readers.map((reader) => all(reader))
    await Promise.all(
      ids.map((taskId) =>
        testServer.ok('1.0', 'SendMessage', { message: textMessage('1.0', 'yes', { taskId }) }),
      ),
    )
    for (const frames of await Promise.all(read)) expect(frames).toHaveLength(8)
    expect((await testServer.engine.health()).subscribers).toBe(1)
    expect(await all(slow)).toHaveLength(7)
  })

  it('ends when the server closes, and the task goes on', async () => {
    const testServer = await openTestServer()
    const id = await immediate(testServer, [{ ask: 'ok?' }])
    await until(testServer, id, 'input-required')
    const stream = await testServer.stream('1.0', 'SubscribeToTask', { id })
    await take(stream, 1)
    testServer.a2a.close()
    expect(await all(stream)).toEqual([])
    expect((await testServer.engine.get(anyone, id)).state).toBe('input-required')
  })
})

it('says what was written with the task once, and goes on behind it', async () => {
  const gate = signal()
  const talker = agent({
    name: 'talker',
    description: 'Speaks at once, and again later.',
    run: async (task) => {
      await task.say('first')
      await gate.promise
      await task.say('second')
    },
  })
  const testServer = await openTestServer({ agents: [talker] })
  const stream = await testServer.stream('1.0', 'SendStreamingMessage', {
    message: textMessage('1.0', 'x'),
  })
  const beginning = await take(stream, 2)
  gate.fire()
  const frames = [...beginning, ...(await all(stream))]
  expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length)
  const texts = frames.map(({ data }) => JSON.stringify(data))
  expect(texts.filter((text) => text.includes('first'))).toHaveLength(1)
  expect(texts.filter((text) => text.includes('second'))).toHaveLength(1)
})

describe('a blocking send', () => {
  const park = [{ park: { reason: 'wait', conditions: { onEvent: 'go' } } }, { complete: 'x' }]
  const control = { 'a2a-extensions': 'urn:lull:a2a:task-control:1' }

  it('returns in 0.3 when the task is stopped, and in 1.0 when the caller knows what that is', async () => {
    const testServer = await openTestServer()
    const old = await testServer.ok('0.3', 'message/send', { message: scripted('0.3', park) })
    expect(old.status.state).toBe('paused-by-agent')
    const aware = await testServer.ok(
      '1.0',
      'SendMessage',
      { message: scripted('1.0', park) },
      control,
    )
    expect(aware.task.metadata['urn:lull:a2a:task-control:1'].state).toBe('paused-by-agent')
  })

  it('waits in 1.0 otherwise', async () => {
    const testServer = await openTestServer()
    const waiting = testServer.ok('1.0', 'SendMessage', {
      message: scripted('1.0', park, { contextId: 'c' }),
    })
    let taskId = ''
    while (taskId === '') {
      await new Promise((resolve) => setImmediate(resolve))
      const { tasks } = await testServer.engine.list(anyone, {
        contextId: 'c',
        states: ['paused-by-agent'],
      })
      taskId = tasks[0]?.id ?? ''
    }
    // A message to a task that is stopped is answered at once, and does not wake it.
    const told = await testServer.ok('1.0', 'SendMessage', {
      message: textMessage('1.0', 'hey', { taskId }),
    })
    expect(told.task.status.state).toBe('TASK_STATE_WORKING')
    await testServer.ok('1.0', 'tasks/resume', { taskId })
    expect((await waiting).task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('honours historyLength', async () => {
    const testServer = await openTestServer()
    const ops = [{ say: 'a' }, { say: 'b' }, { complete: 'c' }]
    const lengths = async (historyLength: number | undefined) => {
      const configuration = historyLength === undefined ? {} : { historyLength }
      const { task } = await testServer.ok('1.0', 'SendMessage', {
        message: scripted('1.0', ops),
        configuration,
      })
      return task.history?.length
    }
    expect(await lengths(undefined)).toBe(3)
    expect(await lengths(2)).toBe(2)
    expect(await lengths(0)).toBeUndefined()
  })
})
