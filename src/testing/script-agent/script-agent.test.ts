import { beforeEach, describe, expect, it } from 'vitest'
import type { Artifact } from '../../core/messages/message.ts'
import type { Task } from '../../core/task.ts'
import { caller, createHarness, type Harness, until } from './test-support/harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
})

const named = (task: Task, name: string): Artifact | undefined =>
  task.artifacts.find((artifact) => artifact.name === name)
const dataOf = (task: Task, name: string): unknown => {
  const part = named(task, name)?.parts[0]
  return part !== undefined && 'data' in part ? part.data : undefined
}
const textIn = (task: Task): unknown => task.statusMessage?.parts[0]
const answer = (task: Task, text: string): Promise<Task> =>
  harness.send({ taskId: task.id, parts: [{ text }] })

describe('messages without a script', () => {
  it('echoes text as an artifact and completes', async () => {
    const task = await harness.ended(await harness.send({ parts: [{ text: 'hello' }] }))
    expect(task.state).toBe('completed')
    expect(named(task, 'echo')?.parts).toEqual([{ text: 'hello' }])
  })

  it('replies without a task', async () => {
    const sent = await harness.engine.send(caller, {
      message: {
        messageId: 'm',
        role: 'ROLE_USER',
        parts: [{ text: '{"script":[{"reply":"hi"}]}' }],
      },
    })
    expect(sent).toMatchObject({ kind: 'message', message: { parts: [{ text: 'hi' }] } })
  })
})

describe('scripts', () => {
  it('are rejected as a whole before any of it runs, with the index of the op', async () => {
    const task = await harness.run({ step: 'a' }, { jump: 1 } as never)
    expect(task.state).toBe('rejected')
    expect(textIn(task)).toEqual({ text: '1: unknown op "jump"' })
    expect(harness.lines).toEqual([])
  })

  it('run their ops in order and complete', async () => {
    const task = await harness.ended(
      await harness.run(
        { say: 'one' },
        { artifact: { name: 'a', text: 'x' } },
        { complete: 'done' },
      ),
    )
    expect(task.state).toBe('completed')
    expect(textIn(task)).toEqual({ text: 'done' })
    const types = (await harness.log(task)).map((record) => record.type)
    expect(types).toEqual(['submitted', 'started', 'said', 'artifact', 'completed'])
  })

  it('stream the text of a step in pieces and record it with the step', async () => {
    const task = await harness.run({ step: 'talk', stream: 'Hello world', chunks: 3, ms: 300 })
    await until(() => harness.lines.length === 1)
    const reading = await harness.engine.follow(caller, task.id, { after: 2 })
    expect(await reading.next()).toMatchObject({
      chunks: [{ artifact: { parts: [{ text: 'Hell' }] } }],
    })
    reading.close()
    for (let piece = 0; piece < 3; piece++) {
      harness.clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const ended = await harness.ended(task)
    expect(named(ended, 'talk')?.parts).toEqual([{ text: 'Hello world' }])
  })

  it.each([
    ['fail', { fail: 'broken' }, 'failed', 'broken'],
    ['reject', { reject: 'no' }, 'rejected', 'no'],
    ['a step that throws', { step: 'a', throw: 'oh' }, 'failed', 'oh'],
  ] as const)('end with %s', async (_what, op, state, text) => {
    const task = await harness.ended(await harness.run(op, { say: 'never' }))
    expect(task.state).toBe(state)
    expect(textIn(task)).toEqual({ text })
  })

  it('end wherever the end stands', async () => {
    const deep = [{ turn: [{ repeat: 3, ops: [{ tool: 't' }, { complete: 'deep' }] }] }] as const
    const task = await harness.ended(await harness.run(...deep, { say: 'never' }))
    expect(textIn(task)).toEqual({ text: 'deep' })
    expect(harness.lines).toHaveLength(2)
  })

  it('repeat', async () => {
    const task = await harness.ended(await harness.run({ repeat: 3, ops: [{ step: 'a' }] }))
    const keys = (await harness.log(task)).flatMap((record) => ('key' in record ? record.key : []))
    expect(keys).toEqual(['step:a#1', 'step:a#2', 'step:a#3'])
  })
})

describe('steps', () => {
  it('take their time, and say when they begin and end, with the occurrence of their key', async () => {
    const task = await harness.run({ step: 'a b/ä', ms: 50 }, { step: 'a b/ä' })
    await until(() => harness.lines.length === 1)
    const now = harness.clock.now()
    harness.clock.advance(50)
    await harness.ended(task)
    const line = (kind: string, occurrence: number, at: number): string =>
      `${kind} ${task.id} a%20b%2F%C3%A4 ${occurrence} 1 ${process.pid} ${at}`
    expect(harness.lines).toEqual([
      line('begin', 1, now),
      line('end', 1, now + 50),
      line('begin', 2, now + 50),
      line('end', 2, now + 50),
    ])
  })

  it('stop when they are interrupted, and run again with the next attempt', async () => {
    const task = await harness.run({ step: 'a', ms: 50 })
    await until(() => harness.lines.length === 1)
    const answered = await harness.engine.pause(caller, {
      taskId: task.id,
      mode: 'interrupt_immediate',
    })
    expect(answered.state).toBe('paused-by-client')
    expect(harness.lines.map((line) => line.split(' ')[0])).toEqual(['begin', 'abort'])
    await harness.engine.resume(caller, { taskId: task.id })
    await until(() => harness.lines.length === 3)
    harness.clock.advance(50)
    await harness.ended(task)
    expect(harness.lines.map((line) => line.split(' ')[4])).toEqual(['1', '1', '2', '2'])
  })

  it('finish all the same when they are stubborn', async () => {
    const task = await harness.run({ step: 'a', ms: 50, stubborn: true })
    await until(() => harness.lines.length === 1)
    const mode = 'interrupt_immediate'
    const paused = harness.engine.pause(caller, { taskId: task.id, mode, graceMs: 1_000 })
    const requested = (now: Task): boolean => now.pausing !== undefined
    await harness.engine.waitFor(caller, task.id, requested)
    harness.clock.advance(50)
    expect((await paused).state).toBe('paused-by-client')
    expect(harness.lines.map((line) => line.split(' ')[0])).toEqual(['begin', 'end'])
  })

  it('run at the same time in branches', async () => {
    const branches = { parallel: [[{ step: 'a', ms: 50 }], [{ step: 'b', ms: 50 }]] }
    const task = await harness.run(branches, { complete: 'both' })
    await until(() => harness.lines.length === 2)
    expect(harness.lines.map((line) => line.split(' ')[2])).toEqual(['a', 'b'])
    harness.clock.advance(50)
    expect(textIn(await harness.ended(task))).toEqual({ text: 'both' })
  })
})

describe('a pause', () => {
  const kinds = (): readonly (string | undefined)[] =>
    harness.lines.map((line) => line.split(' ').slice(0, 3).join(' ').replace(/ \S+ /, ' '))

  it('waits for the running step and comes before the next one', async () => {
    const task = await harness.run({ step: 'a', ms: 50 }, { step: 'b' })
    await until(() => harness.lines.length === 1)
    const paused = harness.engine.pause(caller, { taskId: task.id })
    await harness.engine.waitFor(caller, task.id, (now) => now.pausing !== undefined)
    harness.clock.advance(50)
    expect((await paused).state).toBe('paused-by-client')
    expect(kinds()).toEqual(['begin a', 'end a'])
  })

  it('waits for the rest of the batch the running tool is in', async () => {
    const batch = [{ name: 'a', ms: 50 }, { name: 'b' }]
    const task = await harness.run({ turn: [{ tools: batch }, { tool: 'c' }] })
    await until(() => harness.lines.length === 1)
    const paused = harness.engine.pause(caller, { taskId: task.id })
    await harness.engine.waitFor(caller, task.id, (now) => now.pausing !== undefined)
    harness.clock.advance(50)
    expect((await paused).state).toBe('paused-by-client')
    expect(kinds()).toEqual(['begin a', 'end a', 'begin b', 'end b'])
  })

  it('waits for the whole turn, if it was asked to', async () => {
    const task = await harness.run({ turn: [{ tool: 'a', ms: 50 }, { tool: 'b' }] }, { step: 'c' })
    await until(() => harness.lines.length === 1)
    const mode = 'wait_for_completion'
    const paused = harness.engine.pause(caller, { taskId: task.id, mode })
    await harness.engine.waitFor(caller, task.id, (now) => now.pausing !== undefined)
    harness.clock.advance(50)
    expect((await paused).state).toBe('paused-by-client')
    expect(kinds()).toEqual(['begin a', 'end a', 'begin b', 'end b'])
  })
})

describe('turns', () => {
  it('hold tools, alone and in batches, and a transcript of them', async () => {
    const ops = [
      { tool: 'a' },
      { tools: [{ name: 'b' }, { name: 'c', throw: 'oh' }] },
      { say: 'said' },
      { echo: 'transcript' },
    ] as const
    const task = await harness.ended(await harness.run({ turn: ops }))
    expect(dataOf(task, 'echo-transcript')).toMatchObject([
      { role: 'user' },
      { role: 'tool', content: { name: 'a', result: 'a' } },
      { role: 'tool', content: { name: 'b', status: 'done' } },
      { role: 'tool', content: { name: 'c', status: 'failed', error: 'oh' } },
      { role: 'agent', content: 'said' },
    ])
  })

  it('show reminders, and what was said since the turn before', async () => {
    const task = await harness.run(
      { ask: 'go on?' },
      { turn: [{ echo: 'reminders' }, { echo: 'messages' }] },
    )
    await harness.reached(task, 'input-required')
    const reminder = { body: 'mind the gap' }
    await harness.engine.remind(caller, { taskId: task.id, reminder })
    await answer(task, 'yes')
    const ended = await harness.ended(task)
    expect(dataOf(ended, 'echo-reminders')).toMatchObject([reminder])
    expect(dataOf(ended, 'echo-messages')).toMatchObject([{ role: 'ROLE_USER' }])
  })

  it('are opened for an echo that has none', async () => {
    const task = await harness.ended(await harness.run({ echo: 'messages' }))
    expect(dataOf(task, 'echo-messages')).toMatchObject([{ messageId: 'message-1' }])
  })

  it('see a compacted transcript', async () => {
    const ops = [{ turn: [{ tool: 'a' }] }, { compact: true }, { echo: 'transcript' }] as const
    const task = await harness.ended(await harness.run(...ops))
    expect(dataOf(task, 'echo-transcript')).toEqual([
      { turn: 1, role: 'digest', content: '2 entries, compacted' },
    ])
  })
})

describe('stops', () => {
  it.each([
    ['ask', { ask: 'q' }, 'input-required'],
    ['auth', { auth: 'q' }, 'auth-required'],
  ] as const)('%s, and echo the answer', async (_what, op, state) => {
    const task = await harness.run(op, { echo: 'input' })
    expect((await harness.reached(task, state)).statusMessage?.parts).toEqual([{ text: 'q' }])
    await answer(task, 'main')
    expect(dataOf(await harness.ended(task), 'echo-input')).toEqual({ text: 'main' })
  })

  it('ask for consent, and are rejected without', async () => {
    const task = await harness.run({ consent: { prompt: 'push?', operation: { push: 'main' } } })
    const { question } = await harness.reached(task, 'user-consent-required')
    const consentId = question?.consent?.consentId ?? ''
    await harness.send({ taskId: task.id, parts: [{ data: { consentId, decision: 'denied' } }] })
    expect((await harness.ended(task)).state).toBe('rejected')
  })

  it('park, and echo what woke them', async () => {
    const park = { reason: 'ci', conditions: { onEvent: 'done:7' }, summary: 'waiting' }
    const task = await harness.run({ park }, { echo: 'wake' }, { echo: 'input' })
    const parked = await harness.reached(task, 'paused-by-agent')
    expect(parked.suspension).toMatchObject(park)
    await harness.engine.emit(caller, [{ id: 'e1', source: 'ci', type: 'done', subject: '7' }])
    const ended = await harness.ended(task)
    expect(dataOf(ended, 'echo-wake')).toMatchObject({ cause: 'condition_fired' })
    expect(dataOf(ended, 'echo-input')).toBeNull()
  })

  it('take the newest input: an answer, then what a resume brought', async () => {
    const task = await harness.run({ ask: 'q' }, { park: { reason: 'r' } }, { echo: 'input' })
    await harness.reached(task, 'input-required')
    await answer(task, 'old')
    await harness.reached(task, 'paused-by-agent')
    await harness.engine.resume(caller, { taskId: task.id, input: { new: true } })
    expect(dataOf(await harness.ended(task), 'echo-input')).toEqual({ new: true })
  })
})

describe('outputs', () => {
  it.each([
    ['text', { text: 'abcde' }, [{ text: 'abcde' }]],
    ['text in chunks', { text: 'aäbc😀', chunks: 2 }, [{ text: 'aäb' }, { text: 'c😀' }]],
    ['more chunks than text', { text: 'a', chunks: 2 }, [{ text: 'a' }, { text: '' }]],
    ['data', { data: { a: 1 } }, [{ data: { a: 1 } }]],
    [
      'base64 in chunks',
      { base64: 'aGVsbG8=', chunks: 2, mediaType: 'text/plain' },
      [
        { raw: 'aGVs', mediaType: 'text/plain', filename: 'out' },
        { raw: 'bG8=', mediaType: 'text/plain', filename: 'out' },
      ],
    ],
  ])('artifacts of %s', async (_what, given, parts) => {
    const task = await harness.ended(await harness.run({ artifact: { name: 'out', ...given } }))
    expect(named(task, 'out')?.parts).toEqual(parts)
  })

  it('send all chunks but the first as appended, and the last as last', async () => {
    const task = await harness.ended(
      await harness.run({ artifact: { name: 'out', text: 'abc', chunks: 3 } }),
    )
    const chunks = (await harness.log(task)).filter((record) => record.type === 'artifact')
    expect(chunks.map(({ append, last }) => [append, last])).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ])
  })

  it('usage', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.01 }
    expect((await harness.ended(await harness.run({ usage }))).usage).toEqual(usage)
  })
})

describe('children', () => {
  it('run a script of their own and can be waited for', async () => {
    const delegate = { script: [{ step: 'inner' }] }
    const task = await harness.ended(await harness.run({ delegate, wait: true }, { step: 'outer' }))
    expect(task.state).toBe('completed')
    expect(harness.lines.map((line) => line.split(' ').slice(0, 3))).toEqual([
      ['begin', task.children[0], 'inner'],
      ['end', task.children[0], 'inner'],
      ['begin', task.id, 'outer'],
      ['end', task.id, 'outer'],
    ])
  })

  it('are paused, reminded, resumed and canceled by the parent', async () => {
    const task = await harness.run(
      {
        delegate: {
          script: [
            { step: 'first', ms: 1_000 },
            { step: 'second', ms: 1_000 },
          ],
        },
      },
      { child: 'pause', body: 'hold on' },
      { child: 'remind', body: 'be quick' },
      { child: 'resume' },
      { child: 'cancel', body: 'enough' },
      { child: 'wait' },
    )
    await until(() => harness.lines.length === 1)
    harness.clock.advance(1_000)
    const { children } = await harness.ended(task)
    const child = await harness.engine.get(caller, children[0] ?? '')
    const types = (await harness.log(child)).map((record) => record.type)
    expect(types).toEqual(expect.arrayContaining(['paused', 'reminder-injected', 'resumed']))
    expect(child.state).toBe('canceled')
  })

  it('must exist before they are called', async () => {
    const task = await harness.ended(await harness.run({ child: 'pause' }))
    expect(textIn(task)).toEqual({ text: 'child: "pause" before any delegate' })
  })
})

describe('conventions of the official kits', () => {
  it.each([
    ['tck-complete-task-1a2b3c4d', 'completed', undefined],
    ['tck-artifact-text-1a2b3c4d', 'completed', { text: 'Generated text content' }],
    [
      'tck-artifact-file-1a2b3c4d',
      'completed',
      {
        raw: btoa('Generated text content'),
        mediaType: 'text/plain',
        filename: 'output.txt',
      },
    ],
    [
      'tck-artifact-file-url-1a2b3c4d',
      'completed',
      {
        url: 'https://example.com/output.txt',
        mediaType: 'text/plain',
        filename: 'output.txt',
      },
    ],
    ['tck-artifact-data-1a2b3c4d', 'completed', { data: { key: 'value', count: 42 } }],
    ['tck-reject-task-1a2b3c4d', 'rejected', undefined],
    ['tck-task-failure-1a2b3c4d', 'failed', undefined],
    ['tck-stream-002-1a2b3c4d', 'completed', undefined],
    ['tck-stream-artifact-chunked-1a2b3c4d', 'completed', { text: 'Generated t' }],
  ])('%s ends %s', async (messageId, state, part) => {
    const byId = await harness.ended(await harness.send({ messageId }))
    expect(byId.state).toBe(state)
    expect(byId.artifacts[0]?.parts[0]).toEqual(part)
    const byText = await harness.ended(
      await harness.send({ parts: [{ text: `${messageId} please` }] }),
    )
    expect(byText.state).toBe(state)
  })

  it('answers tck-message-response without a task', async () => {
    const sent = await harness.engine.send(caller, {
      message: { messageId: 'tck-message-response-1', role: 'ROLE_USER', parts: [{ text: 'x' }] },
    })
    expect(sent).toMatchObject({ message: { parts: [{ text: 'Direct message response' }] } })
  })

  it('asks on tck-input-required, and goes on as the answer says', async () => {
    const task = await harness.send({ messageId: 'tck-input-required-1' })
    await harness.reached(task, 'input-required')
    await harness.send({ messageId: 'tck-input-required-2', taskId: task.id })
    await harness.reached(task, 'input-required')
    await harness.send({ messageId: 'tck-complete-task-1', taskId: task.id })
    const ended = await harness.ended(task)
    expect(ended.state).toBe('completed')
    expect(textIn(ended)).toEqual({ text: 'Hello from TCK' })
  })

  it('works until it is canceled on tck-cancel', async () => {
    const task = await harness.send({ messageId: 'tck-cancel-1' })
    await until(() => harness.lines.length === 1)
    await harness.engine.cancel(caller, { taskId: task.id })
    expect((await harness.ended(task)).state).toBe('canceled')
  })
})
