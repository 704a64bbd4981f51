/** `mockModel`, used as authors use it: with `testEngine`. */
import { generateText, streamText, tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { testEngine } from '../testing/test-engine.ts'
import { aiAgent } from './agent/ai-agent.ts'
import { mockModel } from './mock-model.ts'

const city = z.object({ city: z.string() })

it('answers turn by turn, with tools, and says the same after a crash', async () => {
  const model = mockModel(
    { text: 'I look. ', calls: [{ tool: 'weather', input: { city: 'Rome' } }] },
    'It is sunny in Rome.',
  )
  let asked = 0
  const weather = tool({
    inputSchema: city,
    needsApproval: true,
    execute: () => {
      asked++
      return 'sunny'
    },
  })
  const guide = aiAgent({ name: 'guide', description: 'guides', model, tools: { weather } })
  const test = await testEngine({ agents: [guide] })
  const { id } = await test.send('Rome?')
  await test.until(id, 'user-consent-required')
  await test.crash()
  await test.answer(id, { consent: 'granted' })
  const { artifacts } = await test.until(id, 'completed')
  expect(artifacts.map(({ parts }) => parts)).toEqual([
    [{ text: 'I look. ' }],
    [{ text: 'It is sunny in Rome.' }],
  ])
  expect(asked).toBe(1)
  expect(model.prompts.map((prompt) => prompt.at(-1)?.role)).toEqual(['user', 'tool'])
  await test.replay(id)
  await test.close()
})

it('streams word by word, and works with the functions of the SDK', async () => {
  const { textStream } = streamText({ model: mockModel(' Hello  you there. '), prompt: 'hi' })
  const pieces: string[] = []
  for await (const piece of textStream) pieces.push(piece)
  expect(pieces).toEqual([' Hello  ', 'you ', 'there. '])
  expect((await generateText({ model: mockModel('Hi'), prompt: 'hi' })).text).toBe('Hi')
})

it('says that its answers do not suffice', async () => {
  const model = mockModel({ calls: [{ tool: 'weather', input: { city: 'Rome' } }] })
  const weather = tool({ inputSchema: city, execute: () => 'sunny' })
  const guide = aiAgent({ name: 'guide', description: 'guides', model, tools: { weather } })
  const test = await testEngine({ agents: [guide] })
  const { id } = await test.send('Rome?')
  await expect(test.until(id, 'completed')).rejects.toThrow(
    'mockModel was asked for answer 2 and has 1 answer',
  )
})
