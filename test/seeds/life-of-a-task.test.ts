/** "Life of a Task" (A2A): its eight examples, against the demo server, in the order the document tells them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examplesOf, headingsOf, type Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'
import { createNames, differences } from './match.ts'

const FILE = 'life-of-a-task.md'
const example = examplesOf(FILE)

/** What the document says in the first person becomes a task at the root of the demo server. */
let harness: Harness

beforeAll(async () => {
  harness = await openHarness()
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

const exchanges = [
  ['Client sends message to agent for image generation', 'Agent responds with boat image'],
  ['Client asks for coloring the boat red', 'Agent responds with new image artifact'],
  [
    'Client sends message to agent for flight booking',
    'Agent responds with a task requiring consent',
  ],
  ['Client provides consent', 'Agent completes the task'],
] as const

it('has every example of the document in one of the exchanges below', () => {
  expect(exchanges.flat()).toEqual(headingsOf(FILE))
})

describe('the examples, request by request and answer by answer', () => {
  const names = createNames()
  const answers: Loose[] = []

  it.each(exchanges)('%s: %s', async (request, response) => {
    const answer = await harness.post(names.ours(example(request)))
    expect(differences(answer, example(response), names)).toEqual([])
    answers.push(answer.result)
  })

  it('gives the refined picture a task and an artifact of its own, and other pixels', () => {
    const [boat, red] = answers
    expect(red.id).not.toBe(boat.id)
    expect(red.contextId).toBe(boat.contextId)
    expect(red.artifacts[0].name).toBe(boat.artifacts[0].name)
    expect(red.artifacts[0].artifactId).not.toBe(boat.artifacts[0].artifactId)
    expect(bytesOf(red)).not.toBe(bytesOf(boat))
  })

  it('completes the very task that asked for consent, in the context the client chose', () => {
    const [, , asking, booked] = answers
    expect(booked.id).toBe(asking.id)
    expect(booked.contextId).toBe('ctx-travel-xyz')
  })
})

it('understands the reference that stands in a comment of the third example', async () => {
  const names = createNames()
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  await harness.say('Paint a lighthouse', { contextId: boat.contextId })
  names.bind('ctx-conversation-abc', boat.contextId)
  names.bind('task-boat-gen-123', boat.id)
  names.bind('artifact-boat-v1-xyz', boat.artifacts[0].artifactId)
  const request = example('Client asks for coloring the boat red')
  const { message } = request.params
  message.messageId = 'msg-user-002-again'
  message.referenceTaskIds = []
  // Without the words that would name it, so that only the metadata can.
  message.parts[0].text = 'Can you make it red?'
  message.parts[0].metadata = {
    referenceArtifacts: [{ artifactId: 'artifact-boat-v1-xyz', taskId: 'task-boat-gen-123' }],
  }
  const { result } = await harness.post(names.ours(request))
  expect(result.status.state).toBe('completed')
  expect(result.artifacts[0]).toMatchObject({
    name: 'sailboat_image.png',
    description: 'A generated image of a red sailboat on the ocean.',
  })
})

it('takes the artifact itself, sent along as a file part, for a reference to it', async () => {
  const boat = await harness.say('Generate an image of a sailboat on the ocean.')
  await harness.say('Paint a lighthouse', { contextId: boat.contextId })
  const parts = [{ kind: 'text', text: 'Make this one red' }, boat.artifacts[0].parts[0]]
  const red = await harness.say('', { contextId: boat.contextId, parts })
  expect(red.artifacts[0].description).toBe('A generated image of a red sailboat on the ocean.')
})

function bytesOf(task: Loose): string {
  return task.artifacts[0].parts[0].file.bytes
}
