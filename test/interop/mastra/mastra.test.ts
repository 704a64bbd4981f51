/** Mastra's A2A clients, unmodified, on the Node that they need: through send, stream, subscribe, pause, park and consent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, eventually, type Harness, openHarness, UNTIL_PAUSED } from '../a2a/harness.ts'
import { type Mastra, openMastra } from './witness.ts'

let harness: Harness
let mastra: Mastra
beforeAll(async () => {
  harness = await openHarness()
  mastra = await openMastra()
  // The first run of all installs them.
}, 300_000)
afterAll(async () => {
  mastra?.close()
  await harness.close()
})

const script = (...ops: readonly object[]): string => JSON.stringify({ script: ops })

/** Runs the call; once its task is in that state, acts on it. */
async function during<T>(call: Promise<T>, state: string, act: (taskId: string) => Promise<void>) {
  const acting = (async () => {
    let taskId = ''
    await eventually(async () => {
      const { tasks } = await harness.engine.list(caller, { limit: 1 })
      taskId = tasks[0]?.id ?? ''
      return tasks[0]?.state === state
    })
    await act(taskId)
  })()
  const [result] = await Promise.all([call, acting])
  return result
}

const resume = async (taskId: string): Promise<void> => {
  await harness.control('tasks/resume', { taskId })
}

/** Stops the task, lets the client look at it, and wakes it. */
const pauseAndResume = async (taskId: string): Promise<void> => {
  await harness.pause(taskId, 'review')
  await resume(taskId)
}

async function consentOf(id: string): Promise<string> {
  const task = (await harness.control('GetTask', { id })) as {
    readonly metadata: Readonly<Record<string, { readonly consentId: string }>>
  }
  return task.metadata['urn:lull:a2a:user-consent:1']?.consentId ?? ''
}

it('runs on the Node that it demands', () => {
  const [major = 0, minor = 0] = mastra.node.split('.').map(Number)
  expect(major * 100 + minor).toBeGreaterThanOrEqual(2213)
})

describe.each(['0.3', '1.0'])('A2AAgent of @mastra/core, A2A %s', (version) => {
  let runs = 0
  const newRun = (): object => ({ url: harness.url, version, runId: `${version}-${++runs}` })
  const working = [{ step: 'long', ms: UNTIL_PAUSED }, { complete: 'fin' }]

  it('reads the card', async () => {
    const card = await mastra.call('card', newRun())
    expect(card).toMatchObject({ name: 'script', capabilities: { streaming: true } })
    expect(new URL(card.url).pathname).toBe(version === '0.3' ? '/core' : '/')
  })

  it('generates', async () => {
    expect(await mastra.call('generate', { ...newRun(), prompt: 'hello' })).toMatchObject({
      text: 'hello',
      state: 'completed',
      finishReason: 'stop',
    })
  })

  it('generates from a stateless message', async () => {
    const prompt = script({ reply: 'hi' })
    expect(await mastra.call('generate', { ...newRun(), prompt })).toMatchObject({ text: 'hi' })
  })

  it('streams', async () => {
    const prompt = script({ step: 'talk', stream: 'Hello world', chunks: 5, ms: 100 })
    const seen = await mastra.call('stream', { ...newRun(), prompt })
    expect(seen).toMatchObject({ text: 'Hello world', state: 'completed' })
    expect(seen.deltas.join('')).toBe('Hello world')
    expect(seen.types.at(-1)).toBe('finish')
  })

  it.each(['generate', 'stream'])(
    '%s lasts through a pause and tells of no text but the agent’s',
    async (order) => {
      const call = mastra.call(order, { ...newRun(), prompt: script(...working) })
      const seen = await during(call, 'working', pauseAndResume)
      expect(seen).toMatchObject({ state: 'completed' })
      // What the agent returned is the last message and an artifact. Mastra joins both in `generate`.
      expect(order === 'generate' ? ['fin\nfin'] : ['fin', '']).toContain(seen.text)
      expect(seen.deltas ?? []).toEqual(order === 'generate' ? [] : ['fin'])
    },
  )

  it.each(['generate', 'stream'])('%s lasts through a park', async (order) => {
    const prompt = script(
      { park: { reason: 'waiting' } },
      { artifact: { name: 'x', text: 'done' } },
    )
    const call = mastra.call(order, { ...newRun(), prompt })
    const seen = await during(call, 'paused-by-agent', resume)
    expect(seen).toMatchObject({ text: 'done', state: 'completed' })
  })

  it.each(['generate', 'stream'])('%s lasts through a reminder', async (order) => {
    const prompt = script(
      { park: { reason: 'waiting' } },
      { turn: [{ say: 'on' }] },
      { artifact: { name: 'x', text: 'done' } },
    )
    const call = mastra.call(order, { ...newRun(), prompt })
    const seen = await during(call, 'paused-by-agent', async (taskId) => {
      await harness.control('tasks/inject_reminder', { taskId, reminder: { body: 'look up' } })
      await resume(taskId)
    })
    expect(seen).toMatchObject({ text: 'done', state: 'completed' })
  })

  it.each([
    ['generate', 'resumeGenerate'],
    ['stream', 'resumeStream'],
  ])('%s is suspended by a question, and %s answers it', async (order, answer) => {
    const run = newRun()
    const prompt = script({ ask: 'Which?' }, { artifact: { name: 'x', text: 'done' } })
    expect(await mastra.call(order, { ...run, prompt })).toMatchObject({
      state: 'input-required',
      finishReason: 'suspended',
      waitingForInput: true,
    })
    expect(await mastra.call(answer, { ...run, data: 'this' })).toMatchObject({
      text: 'done',
      state: 'completed',
    })
  })

  it.each([
    ['generate', 'resumeGenerate'],
    ['stream', 'resumeStream'],
  ])('%s is suspended by consent, and %s grants it', async (order, answer) => {
    const run = newRun()
    const consent = { prompt: 'Sure?', operation: { book: 'flight' } }
    const prompt = script({ consent }, { artifact: { name: 'x', text: 'done' } })
    const asked = await mastra.call(order, { ...run, prompt })
    expect(asked).toMatchObject({
      state: version === '0.3' ? 'input-required' : 'auth-required',
      waitingForInput: true,
    })
    const data = { consentId: await consentOf(asked.taskId), decision: 'granted' }
    expect(await mastra.call(answer, { ...run, data })).toMatchObject({
      text: 'done',
      state: 'completed',
    })
  })
})

const words = {
  '0.3': {
    part: (data: object) => ({ kind: 'data', data }),
    message: { kind: 'message', role: 'user' },
    consent: 'input-required',
    canceled: 'canceled',
    working: 'working',
    completed: 'completed',
  },
  '1.0': {
    part: (data: object) => ({ data }),
    message: { role: 'ROLE_USER' },
    consent: 'TASK_STATE_AUTH_REQUIRED',
    canceled: 'TASK_STATE_CANCELED',
    working: 'TASK_STATE_WORKING',
    completed: 'TASK_STATE_COMPLETED',
  },
} as const

interface Frame {
  readonly status?: { readonly state: string; readonly message?: { readonly parts: unknown } }
}

describe.each(['0.3', '1.0'] as const)('MastraClient of @mastra/client-js, A2A %s', (version) => {
  const { part, message, consent, canceled, working, completed } = words[version]
  const call = (order: string, rest: object, began?: () => void) =>
    mastra.call(order, { client: 'MastraClient', url: harness.url, version, ...rest }, began)

  let count = 0
  function saying(data: object, some: object = {}): object {
    const messageId = `${version}-${++count}`
    return { params: { message: { ...message, messageId, parts: [part(data)], ...some } } }
  }
  const telling = (...ops: readonly object[]): object => saying({ script: ops })

  /** The task or the update inside a frame. */
  const inner = (frame: object): Frame =>
    version === '0.3' ? frame : (Object.values(frame)[0] as Frame)
  const statesOf = (frames: readonly object[]): readonly (string | undefined)[] =>
    frames.map((frame) => inner(frame).status?.state)
  const textsOf = (frames: readonly object[]): readonly string[] =>
    [
      ...JSON.stringify(frames.map((frame) => inner(frame).status?.message?.parts)).matchAll(
        /"text":"([^"]*)"/g,
      ),
    ].map(([, text = '']) => text)

  it('reads the card', async () => {
    expect(await call('card', {})).toMatchObject({ name: 'script' })
  })

  it('sends, gets and cancels', async () => {
    const ended = await call('sendMessage', telling({ complete: 'fin' }))
    expect(inner(ended).status?.state).toBe(completed)
    const asked = await call('sendMessage', telling({ ask: 'Which?' }))
    const taskId = (inner(asked) as { readonly id: string }).id
    expect(await call('getTask', { taskId })).toMatchObject({ id: taskId })
    expect(await call('cancelTask', { taskId })).toMatchObject({ status: { state: canceled } })
  })

  it('streams through a pause, and shows no text that nobody said', async () => {
    const order = telling({ say: 'begin' }, { step: 'long', ms: UNTIL_PAUSED }, { complete: 'fin' })
    const frames = await during(call('sendMessageStream', order), 'working', pauseAndResume)
    expect(statesOf(frames)).toContain(working)
    expect(statesOf(frames).at(-1)).toBe(completed)
    expect(textsOf(frames)).toEqual(['begin', 'fin'])
  })

  it('streams through a park and a reminder', async () => {
    const order = telling(
      { park: { reason: 'waiting' } },
      { turn: [{ say: 'on' }] },
      { complete: 'fin' },
    )
    const frames = await during(
      call('sendMessageStream', order),
      'paused-by-agent',
      async (taskId) => {
        await harness.control('tasks/inject_reminder', { taskId, reminder: { body: 'look up' } })
        await resume(taskId)
      },
    )
    expect(statesOf(frames).at(-1)).toBe(completed)
    expect(textsOf(frames)).toEqual(['waiting', 'on', 'fin'])
  })

  it('subscribes to a task that is stopped, until it ends', async () => {
    const configuration = version === '0.3' ? { blocking: false } : { returnImmediately: true }
    const order = telling({ park: { reason: 'waiting' } }, { complete: 'fin' }) as {
      params: object
    }
    const sent = await call('sendMessage', { params: { ...order.params, configuration } })
    const taskId = (inner(sent) as { readonly id: string }).id
    let began = (): void => {}
    const reading = new Promise<void>((resolve) => {
      began = resolve
    })
    const subscription = call('resubscribeTask', { taskId }, began)
    const frames = await during(subscription, 'paused-by-agent', async () => {
      // A task that has ended takes no subscription.
      await reading
      await resume(taskId)
    })
    expect(statesOf(frames).at(-1)).toBe(completed)
  })

  it('is asked for consent and grants it', async () => {
    const ask = { consent: { prompt: 'Sure?', operation: { book: 'flight' } } }
    const frames = await call('sendMessageStream', telling(ask, { complete: 'fin' }))
    expect(statesOf(frames).at(-1)).toBe(consent)
    const taskId = (inner(frames[0]) as { readonly id: string }).id
    const answer = { consentId: await consentOf(taskId), decision: 'granted' }
    const granted = await call('sendMessage', saying(answer, { taskId }))
    expect(inner(granted).status?.state).toBe(completed)
  })
})
