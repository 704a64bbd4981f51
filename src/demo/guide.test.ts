import { expect, it } from 'vitest'
import { textOf } from '../core/messages/message.ts'
import { demoAgents } from './demo-agents.ts'
import { openConversation } from './test-support/conversation.ts'

it.each([
  ['Hello', /What can I do for you/],
  ['Thanks!', /welcome/],
  ['What is the meaning of life?', /I can hand you on/],
])('answers "%s" with a message and no task', async (text, answer) => {
  const client = await openConversation(demoAgents)
  const reply = await client.say(text)
  expect(textOf(reply)).toMatch(answer)
  expect(reply.contextId).toBe('conversation')
})

it("has the painter's request done at the root, and the refinement", async () => {
  const client = await openConversation(demoAgents)
  const first = await client.ask('Generate an image of a sailboat on the ocean.')
  expect(first.artifacts[0]?.name).toBe('sailboat_image.png')
  const second = await client.ask("That's great! Can you make the sailboat red?", {
    referenceTaskIds: [first.id],
  })
  expect(second.artifacts[0]?.description).toBe('A generated image of a red sailboat on the ocean.')
  const third = await client.ask('And now in green, please')
  expect(third.artifacts[0]?.description).toBe(
    'A generated image of a green sailboat on the ocean.',
  )
})

it("has the traveller's request done at the root, consent by reference included", async () => {
  const client = await openConversation(demoAgents)
  const asking = await client.ask('Book a flight to Helsinki for next week.')
  expect(asking.state).toBe('user-consent-required')
  const booked = await client.ask('I consent to booking the flight.', {
    referenceTaskIds: [asking.id],
  })
  expect(booked.id).toBe(asking.id)
  expect(booked.artifacts[0]?.name).toBe('flight_confirmation.pdf')
})

it('hands builds and scripts on', async () => {
  const client = await openConversation(demoAgents)
  expect((await client.ask('Build main')).state).toBe('paused-by-agent')
  const script = await client.ask('{"script": [{"ask": "Which branch?"}]}')
  expect(script.state).toBe('input-required')
  const reply = await client.say('{"script": [{"reply": "no task"}]}')
  expect(textOf(reply)).toBe('no task')
})
