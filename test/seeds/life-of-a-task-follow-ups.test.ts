/** "Life of a Task" (A2A): follow-ups, refinements, parallel work and what an ended task is. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Loose } from './examples.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
})

it('tells the Helsinki story: hotel and snowmobile at once, the spa while the snowmobile runs', async () => {
  const asking = await stage.say('Book a flight to Helsinki.')
  const { contextId } = asking
  expect(asking.status.state).toBe('user-consent-required')
  const flight = await stage.say('I consent.', { contextId, taskId: asking.id })
  expect(flight).toMatchObject({ id: asking.id, status: { state: 'completed' } })

  const based = (text: string, on: Loose): Promise<Loose> =>
    stage.say(text, { contextId, referenceTaskIds: [on.id] })
  const [hotel, snowmobile] = await Promise.all([
    based('Based on Task 1, book a hotel.', flight),
    based('Based on Task 1, book a snowmobile activity.', flight),
  ])
  expect(hotel.status.state).toBe('completed')
  expect(snowmobile.status.state).toBe('paused-by-agent')

  const spa = await based('Based on Task 2, add a spa reservation to the hotel booking.', hotel)
  expect(spa.status.state).toBe('completed')
  expect((await stage.get(snowmobile.id)).status.state).toBe('paused-by-agent')

  await stage.emit({ type: 'snowmobile.confirmed', subject: snowmobile.id })
  const ride = await stage.until(snowmobile.id, 'completed')
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
  const first = await stage.script([{ complete: 'done' }])
  const { contextId } = await stage.until(first.id, 'completed')
  const follow = (number: number): Promise<Loose> =>
    stage.script([{ ask: `Question ${number}?` }, { complete: `done ${number}` }], {
      contextId,
      referenceTaskIds: [first.id],
    })
  const [second, third] = await Promise.all([follow(2), follow(3)])
  // Both have come to their question: neither waits for the other.
  await stage.until(second.id, 'input-required')
  await stage.until(third.id, 'input-required')
  await stage.say('yes', { taskId: third.id }, 'script')
  await stage.until(third.id, 'completed')
  expect((await stage.get(second.id)).status.state).toBe('input-required')
  expect(new Set([first.id, second.id, third.id]).size).toBe(3)
})

it('refines a picture again and again: one name, a new artifact and a new task each time', async () => {
  const boat = await stage.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  const red = await stage.say('Make the sailboat red', { contextId, referenceTaskIds: [boat.id] })
  const blue = await stage.say('Now make it blue', { contextId, referenceTaskIds: [red.id] })
  const tasks = [boat, red, blue]
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(3)
  expect(new Set(tasks.map(({ artifacts }) => artifacts[0].artifactId)).size).toBe(3)
  expect(new Set(tasks.map(({ artifacts }) => artifacts[0].name))).toEqual(
    new Set(['sailboat_image.png']),
  )
  expect(blue.artifacts[0].description).toBe('A generated image of a blue sailboat on the ocean.')
})

it('leaves the line of versions to the client: an artifact says nothing of the one before it', async () => {
  const boat = await stage.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  const red = await stage.say('Make it red', { contextId, referenceTaskIds: [boat.id] })
  const text = JSON.stringify(red.artifacts)
  expect(text).not.toContain(boat.artifacts[0].artifactId)
  expect(text).not.toContain(boat.id)
})

it('finds the artifact meant in the task the message refers to', async () => {
  const boat = await stage.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  await stage.say('Paint a lighthouse', { contextId })
  const red = await stage.say('Make it red', { contextId, referenceTaskIds: [boat.id] }, 'painter')
  expect(red.artifacts[0].description).toBe('A generated image of a red sailboat on the ocean.')
})

it('finds the latest artifact in the context when the message refers to none', async () => {
  const boat = await stage.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  await stage.say('Paint a sailboat in the harbour', { contextId })
  const red = await stage.say('Make it red', { contextId })
  expect(red.artifacts[0].description).toBe('A generated image of a red sailboat in the harbour.')
})

it('asks back when two artifacts could be meant, and takes the one the answer names', async () => {
  const boat = await stage.say('Generate an image of a sailboat on the ocean.')
  const { contextId } = boat
  const tower = await stage.say('Paint a lighthouse', { contextId })
  const asking = await stage.say('Make it red', { contextId })
  expect(asking.status.state).toBe('input-required')
  const question = asking.status.message.parts[0].text
  expect(question).toContain(boat.artifacts[0].artifactId)
  expect(question).toContain(tower.artifacts[0].artifactId)

  const metadata = {
    referenceArtifacts: [{ artifactId: tower.artifacts[0].artifactId, taskId: tower.id }],
  }
  const parts = [{ kind: 'text', text: 'That one.', metadata }]
  const red = await stage.say('', { taskId: asking.id, parts })
  expect(red).toMatchObject({ id: asking.id, status: { state: 'completed' } })
  expect(red.artifacts[0].description).toBe('A generated image of a red lighthouse.')
})

it('asks what is meant when there is no context to find it in', async () => {
  const asking = await stage.say('Make it red', {}, 'painter')
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
    const { id } = await stage.script(ops)
    if (state === 'canceled') {
      await stage.until(id, 'input-required')
      await stage.result('tasks/cancel', { id })
    }
    const ended = await stage.until(id, state)
    expect(ended.artifacts).toHaveLength(1)

    const message = {
      role: 'user',
      messageId: `late-${state}`,
      taskId: id,
      parts: [{ kind: 'text', text: 'Once more' }],
    }
    expect((await stage.error('message/send', { message })).code).toBe(-32004)
    expect((await stage.error('tasks/pause', { taskId: id })).code).toBe(-32011)
    expect((await stage.error('tasks/resume', { taskId: id })).code).toBe(-32011)
    expect(await stage.get(id)).toEqual(ended)
  },
)

it('starts a new task for what follows an ended one, and both can be read ever after', async () => {
  const boat = await stage.say('Generate an image of a sailboat on the ocean.')
  const red = await stage.say('Make it red', {
    contextId: boat.contextId,
    referenceTaskIds: [boat.id],
  })
  expect(red.id).not.toBe(boat.id)
  expect((await stage.get(boat.id)).artifacts).toEqual(boat.artifacts)
  expect((await stage.get(red.id)).artifacts).toEqual(red.artifacts)
})
