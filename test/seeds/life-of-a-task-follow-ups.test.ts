/** "Life of a Task" (A2A): follow-ups, refinements, parallel work and what an ended task is. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'

let harness: Harness

beforeAll(async () => {
  harness = await openHarness()
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

it('tells the Helsinki story: hotel and snowmobile at once, the spa while the snowmobile runs', async () => {
  const asking = await harness.say('Book a flight to Helsinki.')
  const { contextId } = asking
  expect(asking.status.state).toBe('user-consent-required')
  const flight = await harness.say('I consent.', { contextId, taskId: asking.id })
  expect(flight).toMatchObject({ id: asking.id, status: { state: 'completed' } })

  const based = (text: string, on: Loose): Promise<Loose> =>
    harness.say(text, { contextId, referenceTaskIds: [on.id] })
  const [hotel, snowmobile] = await Promise.all([
    based('Based on Task 1, book a hotel.', flight),
    based('Based on Task 1, book a snowmobile activity.', flight),
  ])
  expect(hotel.status.state).toBe('completed')
  expect(snowmobile.status.state).toBe('paused-by-agent')

  const spa = await based('Based on Task 2, add a spa reservation to the hotel booking.', hotel)
  expect(spa.status.state).toBe('completed')
  expect((await harness.get(snowmobile.id)).status.state).toBe('paused-by-agent')

  await harness.emit({ type: 'snowmobile.confirmed', subject: snowmobile.id })
  const ride = await harness.until(snowmobile.id, 'completed')
  const tasks = [flight, hotel, ride, spa]
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(4)
  expect(tasks.map((task) => task.contextId)).toEqual([contextId, contextId, contextId, contextId])
  expect(tasks.map((task) => task.artifacts[0].description)).toEqual([
    'Flight booking confirmation for Helsinki.',
    'Hotel booking confirmation for Helsinki.',
    'Snowmobile activity confirmation for Helsinki.',
    'Hotel booking confirmation for Helsinki, with a spa reservation.',
  ])
})

it('runs follow-ups of one context side by side, each as a task of its own', async () => {
  const first = await harness.script([{ complete: 'done' }])
  const { contextId } = await harness.until(first.id, 'completed')
  const follow = (number: number): Promise<Loose> =>
    harness.script([{ ask: `Question ${number}?` }, { complete: `done ${number}` }], {
      contextId,
      referenceTaskIds: [first.id],
    })
  const [second, third] = await Promise.all([follow(2), follow(3)])
  // Both have come to their question: neither waits for the other.
  await harness.until(second.id, 'input-required')
  await harness.until(third.id, 'input-required')
  await harness.say('yes', { taskId: third.id }, 'script')
  await harness.until(third.id, 'completed')
  expect((await harness.get(second.id)).status.state).toBe('input-required')
  expect(new Set([first.id, second.id, third.id]).size).toBe(3)
})

it('refines a picture again and again: one name, a new artifact and a new task each time', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  const red = await harness.say('Make the sailboat red', { contextId, referenceTaskIds: [boat.id] })
  const blue = await harness.say('Now make it blue', { contextId, referenceTaskIds: [red.id] })
  const tasks = [boat, red, blue]
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(3)
  expect(new Set(tasks.map(({ artifacts }) => artifacts[0].artifactId)).size).toBe(3)
  expect(new Set(tasks.map(({ artifacts }) => artifacts[0].name))).toEqual(
    new Set(['sailboat_image.png']),
  )
  expect(blue.artifacts[0].description).toBe('A generated image of a blue sailboat on the ocean.')
})

it('leaves the line of versions to the client: an artifact says nothing of the one before it', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  const red = await harness.say('Make it red', { contextId, referenceTaskIds: [boat.id] })
  const text = JSON.stringify(red.artifacts)
  expect(text).not.toContain(boat.artifacts[0].artifactId)
  expect(text).not.toContain(boat.id)
})

it('finds the artifact meant in the task the message refers to', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  await harness.say('Paint a lighthouse', { contextId })
  const red = await harness.say(
    'Make it red',
    { contextId, referenceTaskIds: [boat.id] },
    'painter',
  )
  expect(red.artifacts[0].description).toBe('A generated image of a red sailboat on the ocean.')
})

it('finds the latest artifact in the context when the message refers to none', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  await harness.say('Paint a sailboat in the harbour', { contextId })
  const red = await harness.say('Make it red', { contextId })
  expect(red.artifacts[0].description).toBe('A generated image of a red sailboat in the harbour.')
})

it('asks back when two artifacts could be meant, and takes the one the answer names', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  const tower = await harness.say('Paint a lighthouse', { contextId })
  const asking = await harness.say('Make it red', { contextId })
  expect(asking.status.state).toBe('input-required')
  const question = asking.status.message.parts[0].text
  expect(question).toContain(boat.artifacts[0].artifactId)
  expect(question).toContain(tower.artifacts[0].artifactId)

  const metadata = {
    referenceArtifacts: [{ artifactId: tower.artifacts[0].artifactId, taskId: tower.id }],
  }
  const parts = [{ kind: 'text', text: 'That one.', metadata }]
  const red = await harness.say('', { taskId: asking.id, parts })
  expect(red).toMatchObject({ id: asking.id, status: { state: 'completed' } })
  expect(red.artifacts[0].description).toBe('A generated image of a red lighthouse.')
})

it('asks what is meant when there is no context to find it in', async () => {
  const asking = await harness.say('Make it red', {}, 'painter')
  expect(asking.status.state).toBe('input-required')
})

const endings = [
  ['completed', [{ artifact: { name: 'result', text: 'a' } }, { complete: 'done' }]],
  ['failed', [{ artifact: { name: 'result', text: 'a' } }, { fail: 'broken' }]],
  ['rejected', [{ artifact: { name: 'result', text: 'a' } }, { reject: 'not mine' }]],
  ['canceled', [{ artifact: { name: 'result', text: 'a' } }, { ask: 'Go on?' }]],
] as const

it.each(endings)(
  'a task that is %s stays as it is, whatever is asked of it',
  async (state, ops) => {
    const { id } = await harness.script(ops)
    if (state === 'canceled') {
      await harness.until(id, 'input-required')
      await harness.result('tasks/cancel', { id })
    }
    const ended = await harness.until(id, state)
    expect(ended.artifacts).toHaveLength(1)

    const message = {
      role: 'user',
      messageId: `late-${state}`,
      taskId: id,
      parts: [{ kind: 'text', text: 'Once more' }],
    }
    expect((await harness.error('message/send', { message })).code).toBe(-32004)
    expect((await harness.error('tasks/pause', { taskId: id })).code).toBe(-32011)
    expect((await harness.error('tasks/resume', { taskId: id })).code).toBe(-32011)
    expect(await harness.get(id)).toEqual(ended)
  },
)

it('starts a new task for what follows an ended one, and both can be read ever after', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  const red = await harness.say('Make it red', {
    contextId: boat.contextId,
    referenceTaskIds: [boat.id],
  })
  expect(red.id).not.toBe(boat.id)
  expect((await harness.get(boat.id)).artifacts).toEqual(boat.artifacts)
  expect((await harness.get(red.id)).artifacts).toEqual(red.artifacts)
})
