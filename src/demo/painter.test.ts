import { inflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { Artifact } from '../core/messages/message.ts'
import { painter } from './painter.ts'
import { openConversation } from './test-support/conversation.ts'

it('paints a sailboat as a PNG that can be opened', async () => {
  const client = await openConversation([painter])
  const task = await client.ask('Generate an image of a sailboat on the ocean.')
  expect(task.state).toBe('completed')
  expect(task.statusMessage).toBeUndefined()
  const [artifact] = task.artifacts
  expect(artifact).toMatchObject({
    name: 'sailboat_image.png',
    description: 'A generated image of a sailboat on the ocean.',
    parts: [{ mediaType: 'image/png', filename: 'sailboat_image.png' }],
  })
  expect(pixelsOf(artifact)).toHaveLength(240 * 180 * 3 + 180)
})

it('paints over it in red: a new task, the same name, a new id, other bytes', async () => {
  const client = await openConversation([painter])
  const first = await client.ask('Generate an image of a sailboat on the ocean.')
  const second = await client.ask("That's great! Can you make the sailboat red?", {
    referenceTaskIds: [first.id],
  })
  const [before, after] = [first.artifacts[0], second.artifacts[0]]
  expect(second.state).toBe('completed')
  expect(second.id).not.toBe(first.id)
  expect(second.contextId).toBe(first.contextId)
  expect(after?.name).toBe('sailboat_image.png')
  expect(after?.artifactId).not.toBe(before?.artifactId)
  expect(after?.description).toBe('A generated image of a red sailboat on the ocean.')
  expect(pixelsOf(after)).not.toEqual(pixelsOf(before))
})

it('takes the latest picture when the message refers to none', async () => {
  const client = await openConversation([painter])
  await client.ask('Generate an image of a sailboat on the ocean.')
  const task = await client.ask('Make it blue')
  expect(task.artifacts[0]?.description).toBe('A generated image of a blue sailboat on the ocean.')
})

it('asks which picture is meant when there are two, and paints the one that is named', async () => {
  const client = await openConversation([painter])
  await client.ask('Generate an image of a sailboat on the ocean.')
  const lighthouse = await client.ask('Paint a lighthouse')
  const asking = await client.ask('Make it red')
  expect(asking.state).toBe('input-required')
  const [artifact] = lighthouse.artifacts
  await client.ask('That one', {
    taskId: asking.id,
    parts: [
      {
        text: 'That one',
        metadata: {
          referenceArtifacts: [{ artifactId: artifact?.artifactId ?? '', taskId: lighthouse.id }],
        },
      },
    ],
  })
  const done = await client.settled(asking.id)
  expect(done.artifacts[0]?.description).toBe('A generated image of a red lighthouse.')
})

it('asks what to paint when it cannot paint what was asked for', async () => {
  const client = await openConversation([painter])
  const asking = await client.ask('Paint an elephant')
  expect(asking.state).toBe('input-required')
  const done = await client.ask('Then an orange sailboat', { taskId: asking.id })
  expect(done.artifacts[0]?.description).toBe('A generated image of an orange sailboat.')
})

/** The scan lines of the picture, each with its filter byte. */
function pixelsOf(artifact: Artifact | undefined): Buffer {
  const part = artifact?.parts[0]
  const file = Buffer.from(part !== undefined && 'raw' in part ? part.raw : '', 'base64')
  const at = file.indexOf('IDAT')
  return inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)))
}
