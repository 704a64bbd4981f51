/** The PAUSED state RFC (A2A): which moves there are, which there are not, and what a stop does to the work. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'
import { type Harness, NOTIFICATIONS, openHarness, readUntil } from './harness.ts'

/** What really ran: `begin|end|abort <task> <name> …`, in order. */
const lines: string[] = []
const effects = (line: string): void => {
  lines.push(line)
}
/** The steps of the agent `staged` end when this clock says so. */
const clock = createManualClock()
const LONG = 1_000

/** A boundary every few milliseconds, without end. */
const busy = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]
const SOON = 0.001
const CONTROL = 'urn:lull:a2a:task-control:1'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({
    agents: [createScriptAgent({ effects }), createScriptAgent({ name: 'staged', clock, effects })],
  })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

async function working(ops: readonly object[] = busy): Promise<string> {
  const { id } = await harness.script(ops)
  await harness.until(id, 'working')
  return id
}

async function parked(conditions: object = {}, then: readonly object[] = []): Promise<string> {
  const park = { reason: 'waiting', conditions }
  const { id } = await harness.script([{ park }, ...then])
  await harness.until(id, 'paused-by-agent')
  return id
}

async function paused(): Promise<string> {
  const id = await working()
  await harness.result('tasks/pause', { taskId: id })
  return id
}

/** A task in the middle of its first step, which lasts until the clock is moved. */
async function inStep(ops: readonly object[]): Promise<string> {
  const { id } = await harness.script(ops, {}, 'staged')
  await expect.poll(() => ran(id)).toEqual([`begin ${id} one`])
  return id
}

/** Asks for a pause in the middle of a step, and lets the step end once the pause is accepted. */
async function pauseInStep(id: string, mode?: string): Promise<Loose> {
  const answer = harness.result('tasks/pause', { taskId: id, ...(mode && { mode }) })
  await expect.poll(async () => (await controlOf(id))?.pausing).toBe(true)
  clock.advance(LONG)
  return answer
}

async function controlOf(id: string): Promise<Loose> {
  return (await harness.get(id)).metadata?.[CONTROL]
}

const stops = [
  ['paused-by-client', paused],
  ['paused-by-agent', parked],
] as const

const ran = (id: string): readonly string[] =>
  lines.filter((line) => line.includes(id)).map((line) => line.split(' ', 3).join(' '))

describe('the moves of the document', () => {
  it('working → paused-by-client, by tasks/pause', async () => {
    const id = await working()
    const answer = await harness.result('tasks/pause', { taskId: id })
    expect(answer).toMatchObject({ taskId: id, state: 'paused-by-client' })
    expect((await harness.get(id)).status.state).toBe('paused-by-client')
  })

  it('working → paused-by-agent, by tasks/await_resumption and by the agent itself', async () => {
    const id = await working()
    const answer = await harness.result('tasks/await_resumption', { taskId: id, reason: 'x' })
    expect(answer).toMatchObject({ taskId: id, state: 'paused-by-agent' })
    expect((await harness.get(await parked())).status.state).toBe('paused-by-agent')
  })

  it('paused-by-client → working, by tasks/resume', async () => {
    const id = await paused()
    const answer = await harness.result('tasks/resume', { taskId: id })
    expect(answer).toMatchObject({ state: 'working', previousState: 'paused-by-client' })
    expect((await harness.get(id)).status.state).toBe('working')
  })

  it('paused-by-agent → working, by tasks/resume', async () => {
    const id = await parked({}, [{ ask: 'Go on?' }])
    const answer = await harness.result('tasks/resume', { taskId: id })
    expect(answer).toMatchObject({ state: 'working', previousState: 'paused-by-agent' })
    await harness.until(id, 'input-required')
  })

  it.each(stops)('%s → canceled, by tasks/cancel', async (_, stop) => {
    const id = await stop()
    expect((await harness.result('tasks/cancel', { id })).status.state).toBe('canceled')
    expect((await harness.error('tasks/resume', { taskId: id })).code).toBe(-32011)
  })

  const fail = { timeout: { durationMinutes: SOON, onTimeout: 'fail' } }

  it('paused-by-client → failed, when the timeout passes with onTimeout fail', async () => {
    const id = await working()
    const answer = await harness.result('tasks/pause', { taskId: id, conditions: fail })
    expect(answer.state).toBe('paused-by-client')
    await harness.until(id, 'failed')
  })

  it('paused-by-agent → failed, when the timeout passes with onTimeout fail', async () => {
    const script = [{ park: { reason: 'waiting', conditions: fail } }]
    const parts = [{ kind: 'data', data: { script } }]
    const message = { role: 'user', messageId: 'park-and-fail', parts }
    const states: Loose[] = []
    for await (const { result } of harness.stream('message/stream', { message })) {
      states.push(result.status.state)
    }
    expect(states.slice(-2)).toEqual(['paused-by-agent', 'failed'])
  })

  const questions = [
    ['input-required', { ask: 'Which one?' }],
    ['auth-required', { auth: 'Please sign in' }],
    ['user-consent-required', { consent: { prompt: 'Really?', operation: {} } }],
  ] as const

  it.each(questions)('%s → paused is refused, by either method', async (state, op) => {
    const { id } = await harness.script([op])
    await harness.until(id, state)
    const pause = await harness.error('tasks/pause', { taskId: id })
    expect(pause).toMatchObject({ code: -32011, data: { state } })
    const park = await harness.error('tasks/await_resumption', { taskId: id, reason: 'x' })
    expect(park).toMatchObject({ code: -32011, data: { state } })
    expect((await harness.get(id)).status.state).toBe(state)
  })

  it('a task that needs input while it is paused goes through working first', async () => {
    const id = await inStep([{ step: 'one', ms: LONG }, { ask: 'Which one?' }])
    const frames = harness.stream('tasks/resubscribe', { id })
    await frames.next()
    await pauseInStep(id)
    await harness.result('tasks/resume', { taskId: id })
    const seen = await readUntil(frames, ({ result }) => result.status?.state === 'input-required')
    const states = seen.map(({ result }) => result.status?.state)
    expect(states.slice(-3)).toEqual(['paused-by-client', 'working', 'input-required'])
    await frames.return()
  })
})

describe('what wakes a stopped task', () => {
  async function wokenBy(conditions: object, event: object): Promise<Loose> {
    const id = await parked(conditions, [{ echo: 'wake' }])
    await harness.emit({ type: 'something.else' })
    expect((await harness.get(id)).status.state).toBe('paused-by-agent')
    await harness.emit(event)
    return wakeOf(id)
  }

  it('the event it named', async () => {
    const event = { type: 'file.changed', subject: 'src/lib.rs' }
    const wake = await wokenBy({ onEvent: 'file.changed:src/lib.rs' }, event)
    expect(wake).toMatchObject({ cause: 'condition_fired', event })
  })

  it('an event that matches its trigger', async () => {
    const event = { type: 'deploy', data: { env: 'prod' } }
    const filter = { exact: { type: 'deploy', 'data.env': 'prod' } }
    const wake = await wokenBy({ trigger: { filter } }, event)
    expect(wake).toMatchObject({ cause: 'condition_fired', event })
  })

  it('the instant it scheduled: the caller need only watch', async () => {
    const at = new Date(Date.now() + 50).toISOString()
    const { id } = await harness.script([
      { park: { reason: 'until 09:00', conditions: { trigger: { at } } } },
      { echo: 'wake' },
    ])
    expect(await wakeOf(id)).toMatchObject({ cause: 'condition_fired' })
  })

  it('its timeout, by default with a summary in place of the transcript', async () => {
    const timeout = { durationMinutes: SOON }
    const { id } = await harness.script([
      { park: { reason: 'waiting', conditions: { timeout } } },
      { echo: 'wake' },
    ])
    expect(await wakeOf(id)).toMatchObject({
      cause: 'timeout',
      input: null,
      continueTranscript: false,
    })
  })

  it('its timeout with resume_with_input, with the input that was set', async () => {
    const timeout = { durationMinutes: SOON, onTimeout: 'resume_with_input', input: 'late' }
    const { id } = await harness.script([
      { park: { reason: 'waiting', conditions: { timeout } } },
      { echo: 'wake' },
    ])
    expect(await wakeOf(id)).toMatchObject({ cause: 'timeout', input: 'late' })
  })

  it('exactly one of two resumes; the other is told who was first', async () => {
    const id = await parked({}, [{ ask: 'Go on?' }])
    const answers = await Promise.all([
      harness.call('tasks/resume', { taskId: id }),
      harness.call('tasks/resume', { taskId: id }),
    ])
    const refused = answers.find(({ error }) => error !== undefined)
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1)
    expect(refused.error).toMatchObject({ code: -32011, data: { cause: 'explicit_resume' } })
  })

  it('not a message: that waits for the next turn', async () => {
    const id = await parked({}, [{ echo: 'messages' }])
    const answer = await harness.say('are you there?', { taskId: id })
    expect(answer.status.state).toBe('paused-by-agent')
    await harness.result('tasks/resume', { taskId: id })
    const done = await harness.until(id, 'completed')
    expect(JSON.stringify(done.artifacts)).toContain('are you there?')
  })
})

describe('what tasks/resume brings', () => {
  it('feeds its input to the waitpoint, and not to the message stream', async () => {
    const id = await parked({}, [{ echo: 'input' }])
    const before = (await harness.get(id)).history
    const input = { approved: true, by: ['ann'] }
    const answer = await harness.result('tasks/resume', { taskId: id, input })
    expect(answer.hadResumeInput).toBe(true)
    const done = await harness.until(id, 'completed')
    expect(done.artifacts[0].parts[0].data).toEqual(input)
    expect(done.history).toEqual(before)
  })

  const chat = [
    { turn: [{ say: 'first words' }] },
    { park: { reason: 'waiting' } },
    { echo: 'transcript' },
  ]

  it('lets the resumed turn see the whole transcript by default', async () => {
    const { id } = await harness.script(chat)
    await harness.until(id, 'paused-by-agent')
    const answer = await harness.result('tasks/resume', { taskId: id })
    expect(answer.continueTranscript).toBe(true)
    const { artifacts } = await harness.until(id, 'completed')
    const entries = artifacts[0].parts[0].data.value ?? artifacts[0].parts[0].data
    expect(entries.some(({ content }: Loose) => content === 'first words')).toBe(true)
  })

  it('gives the resumed turn a digest in its place with continueTranscript false', async () => {
    const { id } = await harness.script(chat)
    await harness.until(id, 'paused-by-agent')
    const resume = { taskId: id, continueTranscript: false }
    expect(await harness.result('tasks/resume', resume)).toMatchObject({
      continueTranscript: false,
    })
    const { artifacts } = await harness.until(id, 'completed')
    const entries = artifacts[0].parts[0].data.value ?? artifacts[0].parts[0].data
    expect(entries.map(({ role }: Loose) => role)).toEqual(['digest'])
  })
})

describe('what tasks/pause stops', () => {
  /** One turn with two tools, and a step behind it. */
  const turn = [{ turn: [{ tool: 'one', ms: LONG }, { tool: 'two' }] }, { step: 'after' }]

  it('by default, finish_step: the running step finishes, nothing after it begins', async () => {
    const id = await inStep(turn)
    expect(await pauseInStep(id)).toMatchObject({ state: 'paused-by-client' })
    expect(ran(id)).toEqual([`begin ${id} one`, `end ${id} one`])
    await harness.result('tasks/resume', { taskId: id })
    await harness.until(id, 'completed')
    expect(ran(id).filter((line) => line.startsWith('begin'))).toEqual([
      `begin ${id} one`,
      `begin ${id} two`,
      `begin ${id} after`,
    ])
  })

  it('interrupt_immediate: the running step is told to stop, and runs again after the resume', async () => {
    const id = await inStep(turn)
    await harness.result('tasks/pause', { taskId: id, mode: 'interrupt_immediate' })
    expect(ran(id)).toEqual([`begin ${id} one`, `abort ${id} one`])
    await harness.result('tasks/resume', { taskId: id })
    await expect.poll(() => ran(id).at(-1)).toBe(`begin ${id} one`)
    clock.advance(LONG)
    await harness.until(id, 'completed')
  })

  it('wait_for_completion: the running turn finishes, nothing after it begins', async () => {
    const id = await inStep(turn)
    expect(await pauseInStep(id, 'wait_for_completion')).toMatchObject({
      state: 'paused-by-client',
    })
    expect(ran(id)).toEqual([
      `begin ${id} one`,
      `end ${id} one`,
      `begin ${id} two`,
      `end ${id} two`,
    ])
  })

  it('nothing yet, when the step outlasts the grace time: the answer says so, and the commit follows', async () => {
    const id = await inStep([{ step: 'one', ms: LONG }, { ask: 'More?' }])
    const frames = harness.stream('tasks/resubscribe', { id }, NOTIFICATIONS)
    await frames.next()
    const answer = await harness.result('tasks/pause', { taskId: id, graceMs: 1 })
    expect(answer).toMatchObject({ taskId: id, state: 'working', pausing: true })
    clock.advance(LONG)
    const seen = await readUntil(frames, ({ method }) => method === 'tasks/statusUpdate')
    expect(seen.at(-1).params).toMatchObject({
      state: 'paused-by-client',
      handle: answer.handle,
    })
    await frames.return()
  })

  it('no work: a paused task leaves no effect until it is resumed, and can be inspected meanwhile', async () => {
    const { id } = await harness.script([{ artifact: { name: 'draft', text: 'half' } }, ...busy])
    await expect.poll(() => ran(id).length).toBeGreaterThan(0)
    await harness.result('tasks/pause', { taskId: id, reason: 'operator review' })
    const frozen = ran(id).length
    expect((await harness.get(id)).artifacts[0].name).toBe('draft')
    // Time enough for another task to make many steps.
    const other = await working()
    await expect.poll(() => ran(other).length).toBeGreaterThan(20)
    expect(ran(id)).toHaveLength(frozen)
    await harness.result('tasks/resume', { taskId: id })
    await expect.poll(() => ran(id).length).toBeGreaterThan(frozen)
  })
})

describe('who is told', () => {
  it('every reader of the task sees the states; the notifications only those who asked', async () => {
    const id = await working()
    const frames = harness.stream('tasks/resubscribe', { id })
    await frames.next()
    await harness.result('tasks/pause', { taskId: id })
    await harness.result('tasks/resume', { taskId: id })
    await harness.result('tasks/cancel', { id })
    const seen: Loose[] = []
    for await (const frame of frames) seen.push(frame)
    expect(seen.every(({ method }) => method === undefined)).toBe(true)
    // A pause that waits for the running step is told as well, as working.
    const settled = seen.filter(({ result }) => !result.metadata?.[CONTROL]?.pausing)
    expect(settled.map(({ result }) => result.status.state)).toEqual([
      'paused-by-client',
      'working',
      'canceled',
    ])
  })

  it('A2A 1.0 has no such states: it says working, and the rest in the metadata of the extension', async () => {
    const id = await parked({ onEvent: 'ci.build.completed:1' })
    const get = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }
    const { result } = await harness.post(get, undefined, { 'a2a-version': '1.0' })
    expect(result.status.state).toBe('TASK_STATE_WORKING')
    expect(result.metadata[CONTROL]).toMatchObject({
      state: 'paused-by-agent',
      initiator: 'agent',
    })
  })

  it('a pause is told from a question: no prompt, and who stopped it and why', async () => {
    const id = await parked({ onEvent: 'ci.build.completed:1' })
    const { status, metadata } = await harness.get(id)
    expect(status.state).toBe('paused-by-agent')
    expect(metadata[CONTROL]).toMatchObject({
      state: 'paused-by-agent',
      initiator: 'agent',
      reason: 'waiting',
      conditions: { onEvent: 'ci.build.completed:1' },
    })
  })
})

async function wakeOf(id: string): Promise<Loose> {
  const { artifacts } = await harness.until(id, 'completed')
  return artifacts[0].parts[0].data
}
