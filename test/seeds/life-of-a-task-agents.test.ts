/** "Life of a Task" (A2A): messages and tasks, contexts, the three levels of agents, and the states a task stops in. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { demoAgents } from '../../src/demo/demo-agents.ts'
import { agent } from '../../src/index.ts'
import type { Loose } from './examples.ts'
import { type Harness, openHarness, readUntil } from './harness.ts'

/** Level 1: messages only, tied together by the context. */
const parrot = agent({
  name: 'parrot',
  description: 'Repeats, and counts what it heard in this context',
  receive: (message, { context, reply }) => {
    const [part] = message.parts
    const text = part !== undefined && 'text' in part ? part.text : ''
    return reply(`${text} (${context.messages.length} before)`)
  },
})

/** Level 2: everything is a task, small talk too. */
const clerk = agent({
  name: 'clerk',
  description: 'Makes a task of everything',
  run: (task) => `You said: ${task.text}`,
})

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ agents: [...demoAgents, parrot, clerk] })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

it('an agent of messages only answers with messages, and the context ties them together', async () => {
  const first = await harness.say('one', {}, 'parrot')
  expect(first).toMatchObject({
    kind: 'message',
    role: 'agent',
    parts: [{ text: 'one (0 before)' }],
  })
  expect(first.contextId).toEqual(expect.any(String))
  const second = await harness.say('two', { contextId: first.contextId }, 'parrot')
  expect(second.contextId).toBe(first.contextId)
  // Both sides of what was said are part of the conversation.
  expect(second.parts[0].text).toBe('two (2 before)')
  const elsewhere = await harness.say('three', {}, 'parrot')
  expect(elsewhere.parts[0].text).toBe('three (0 before)')
})

it('an agent of tasks only models a simple answer as a task that is completed', async () => {
  const task = await harness.say('Hello', {}, 'clerk')
  expect(task).toMatchObject({
    kind: 'task',
    status: { state: 'completed', message: { parts: [{ text: 'You said: Hello' }] } },
    artifacts: [],
  })
})

it('a hybrid agent negotiates with messages and then tracks the work as a task of the same context', async () => {
  const hello = await harness.say('Hello')
  expect(hello.kind).toBe('message')
  const offer = await harness.say('Can you help me?', { contextId: hello.contextId })
  expect(offer.kind).toBe('message')
  expect(offer.contextId).toBe(hello.contextId)
  const boat = await harness.say('Generate an image of a sailboat on the ocean.', {
    contextId: hello.contextId,
  })
  expect(boat).toMatchObject({ kind: 'task', contextId: hello.contextId })
})

it('a message is the whole of its interaction: no task is left behind', async () => {
  const reply = await harness.say('Hello')
  expect(reply).not.toHaveProperty('taskId')
  const response = await fetch(`${harness.url}/v1/tasks?contextId=${reply.contextId}`)
  expect(await response.json()).toMatchObject({ tasks: [], totalSize: 0 })
  const frames: Loose[] = []
  for await (const frame of harness.stream('message/stream', textMessage('Hello')))
    frames.push(frame)
  expect(frames.map(({ result }) => result.kind)).toEqual(['message'])
})

it('a task is followed by its status and artifact updates until it ends', async () => {
  const frames: Loose[] = []
  const request = textMessage('Generate an image of a sailboat on the ocean.')
  for await (const frame of harness.stream('message/stream', request)) frames.push(frame.result)
  expect(frames[0].kind).toBe('task')
  const kinds = frames.slice(1).map(({ kind }) => kind)
  expect(new Set(kinds)).toEqual(new Set(['status-update', 'artifact-update']))
  expect(frames.at(-1)).toMatchObject({ status: { state: 'completed' }, final: true })
  expect(frames.slice(0, -1).some(({ final }) => final === true)).toBe(false)
})

it('the first answer brings the context, and the id of the task if it is one', async () => {
  const task = await harness.say('Generate an image of a sailboat on the ocean.')
  expect(task).toMatchObject({ id: expect.any(String), contextId: expect.any(String) })
  const message = await harness.say('Hello')
  expect(message.contextId).toEqual(expect.any(String))
  expect(message.contextId).not.toBe(task.contextId)
})

it('one context holds many tasks and the messages between them', async () => {
  const hello = await harness.say('Hello')
  const { contextId } = hello
  const boat = await harness.say('Generate an image of a sailboat on the ocean.', { contextId })
  await harness.say('Thanks', { contextId })
  const tower = await harness.say('Paint a lighthouse', { contextId })
  const response = await fetch(`${harness.url}/v1/tasks?contextId=${contextId}`)
  const { tasks } = (await response.json()) as Loose
  expect(tasks.map(({ id }: Loose) => id).sort()).toEqual([boat.id, tower.id].sort())
})

it('a context of the client is kept, and agents see what was said in it', async () => {
  const contextId = 'chosen-by-the-client'
  const first = await harness.say('one', { contextId }, 'parrot')
  expect(first.contextId).toBe(contextId)
  const second = await harness.say('two', { contextId }, 'parrot')
  expect(second.parts[0].text).not.toBe('two (0 before)')
})

it('a message with the id of a task continues that task', async () => {
  const { id, contextId } = await harness.script([{ ask: 'Which one?' }, { echo: 'input' }])
  await harness.until(id, 'input-required')
  const done = await harness.say('the left one', { taskId: id, contextId }, 'script')
  expect(done).toMatchObject({ id, contextId, status: { state: 'completed' } })
  expect(done.artifacts[0].parts[0].data).toEqual({ text: 'the left one' })
  expect(done.history.map(({ role }: Loose) => role)).toEqual(['user', 'agent', 'user'])
})

const interruptions = [
  ['input-required', { ask: 'Which one?' }],
  ['auth-required', { auth: 'Please sign in' }],
  ['user-consent-required', { consent: { prompt: 'Really?', operation: { do: 'it' } } }],
] as const

it.each(interruptions)('a task that is %s has told so and waits', async (state, op) => {
  const frames: Loose[] = []
  const request = scriptMessage([op, { complete: 'done' }])
  for await (const frame of harness.stream('message/stream', request)) frames.push(frame.result)
  expect(frames.at(-1)).toMatchObject({ status: { state }, final: true })
  const id = frames[0].id
  expect((await harness.get(id)).status.state).toBe(state)
})

it('no work is done before the user consented, and a refusal ends the task', async () => {
  const asking = await harness.say('Book a flight to Helsinki for next week.')
  expect(asking).toMatchObject({ status: { state: 'user-consent-required' }, artifacts: [] })
  // A message that is no answer changes nothing.
  const again = await harness.say('What does it cost?', { taskId: asking.id })
  expect(again).toMatchObject({ status: { state: 'user-consent-required' }, artifacts: [] })
  const refused = await harness.say('No, I do not consent.', { taskId: asking.id })
  expect(refused).toMatchObject({ id: asking.id, status: { state: 'rejected' }, artifacts: [] })
})

const ends = [
  ['completed', [{ complete: 'done' }]],
  ['failed', [{ fail: 'broken' }]],
  ['rejected', [{ reject: 'not mine' }]],
] as const

it.each(ends)('a stream ends with the update that says %s', async (state, ops) => {
  const frames: Loose[] = []
  for await (const frame of harness.stream('message/stream', scriptMessage(ops))) {
    frames.push(frame.result)
  }
  expect(frames.at(-1)).toMatchObject({ status: { state }, final: true })
})

it('a stream ends with the update that says canceled, which the document spells cancelled', async () => {
  const frames = harness.stream('message/stream', scriptMessage([{ step: 'work', ms: 3_600_000 }]))
  const [first] = await readUntil(frames, ({ result }) => result.status.state === 'working')
  const { id, contextId } = first.result
  const canceled = await harness.result('tasks/cancel', { id })
  expect(canceled.status.state).toBe('canceled')
  const last = await readUntil(frames, ({ result }) => result.final === true)
  expect(last.at(-1).result.status.state).toBe('canceled')
  const filter = `contextId=${contextId}&status=cancelled`
  const response = await fetch(`${harness.url}/v1/tasks?${filter}`)
  expect(await response.json()).toMatchObject({ tasks: [{ id }] })
})

it('understands the names the later documents still use, and refuses a task id of the client', async () => {
  const done = await harness.result('tasks/send', textMessage('Paint a lighthouse'))
  expect(done).toMatchObject({ kind: 'task', status: { state: 'completed' } })
  const frames = harness.stream('tasks/sendSubscribe', textMessage('Paint a lighthouse'))
  expect(await readUntil(frames, ({ result }) => result.final === true)).not.toHaveLength(0)
  const { message } = textMessage('Paint a lighthouse')
  const chosen = { message: { ...message, taskId: 'chosen-by-the-client' } }
  const refused = await harness.error('message/send', chosen)
  expect(refused.code).toBe(-32001)
  const older = { id: 'chosen-by-the-client', message }
  expect((await harness.error('tasks/send', older)).code).toBe(-32001)
})

let count = 0

function textMessage(text: string): { readonly message: object } {
  const parts = [{ kind: 'text', text }]
  return { message: { role: 'user', messageId: `text-${++count}`, parts } }
}

/** At the root the guide hands it to the script agent. */
function scriptMessage(script: readonly object[]): { readonly message: object } {
  const parts = [{ kind: 'data', data: { script } }]
  return { message: { role: 'user', messageId: `script-${++count}`, parts } }
}
