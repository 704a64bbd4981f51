/** What an editor and the processes that serve it get from `relay.ts` (K1 to K3). */
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createRelay } from './relay.ts'

type Message = Readonly<Record<string, unknown>>

const tick = () => new Promise((resolve) => setImmediate(resolve))

/** Every message that was written to the stream so far. */
function collect(stream: PassThrough): () => Promise<readonly Message[]> {
  let text = ''
  stream.on('data', (piece) => {
    text += piece
  })
  return async () => {
    for (let turn = 0; turn < 10; turn++) await tick()
    return text
      .split('\n')
      .filter(Boolean)
      .map((line): Message => JSON.parse(line))
  }
}

function connect() {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const relay = createRelay({ input, output }, () => undefined)
  const say = (message: Message) =>
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  /** The next process that serves the editor. */
  const serve = () => {
    const { input: requests, output: answers } = relay.upstream()
    const got = collect(requests as PassThrough)
    const answer = (message: Message) => answers.write(`${JSON.stringify(message)}\n`)
    return { got, answer }
  }
  return { relay, say, serve, shown: collect(output) }
}

const cwd = '/project'

/** An editor with a session, and the process that serves it. */
async function openSession() {
  const editor = connect()
  const first = editor.serve()
  editor.relay.start()
  editor.say({ id: 0, method: 'initialize', params: { protocolVersion: 1 } })
  editor.say({ id: 1, method: 'session/new', params: { cwd, mcpServers: [] } })
  await first.got()
  first.answer({ id: 0, result: {} })
  first.answer({ id: 1, result: { sessionId: 's' } })
  await editor.shown()
  return { editor, first }
}

it('K1: a request that the dead process had not answered gets one error', async () => {
  const { editor } = await openSession()
  editor.say({ id: 2, method: 'session/prompt', params: { sessionId: 's' } })
  await editor.shown()
  editor.relay.interrupt()
  editor.relay.interrupt()
  const errors = (await editor.shown()).filter(({ error }) => error !== undefined)
  expect(errors).toMatchObject([{ id: 2, error: { data: { reason: 'process_gone' } } }])
})

it('K2: the next process is initialized and gets the sessions before it gets anything else', async () => {
  const { editor } = await openSession()
  editor.relay.interrupt()
  const next = editor.serve()
  const restored = editor.relay.restore()
  editor.say({ id: 3, method: 'session/prompt', params: { sessionId: 's' } })
  for (const method of ['initialize', 'session/resume']) {
    const last = (await next.got()).at(-1)
    expect(last?.['method']).toBe(method)
    next.answer({ id: last?.['id'], result: {} })
  }
  await restored
  const got = await next.got()
  expect(got.map(({ method }) => method)).toEqual([
    'initialize',
    'session/resume',
    'session/prompt',
  ])
  expect(got[1]?.['params']).toEqual({ sessionId: 's', cwd, mcpServers: [] })
})

it('K3: an answer to a question of the dead process reaches nobody', async () => {
  const { editor, first } = await openSession()
  first.answer({ id: 7, method: 'session/request_permission', params: { sessionId: 's' } })
  await editor.shown()
  editor.relay.interrupt()
  const next = editor.serve()
  const restored = editor.relay.restore()
  for (let call = 0; call < 2; call++) {
    next.answer({ id: (await next.got()).at(-1)?.['id'], result: {} })
  }
  await restored
  next.answer({ id: 7, method: 'session/request_permission', params: { sessionId: 's' } })
  const asked = (await editor.shown()).filter(({ method }) => method !== undefined)
  expect(asked).toHaveLength(2)
  editor.say({ id: asked[0]?.['id'], result: { of: 'the dead process' } })
  editor.say({ id: asked[1]?.['id'], result: { of: 'the next process' } })
  const answers = (await next.got()).filter(({ result }) => result !== undefined)
  expect(answers).toEqual([{ jsonrpc: '2.0', id: 7, result: { of: 'the next process' } }])
})
