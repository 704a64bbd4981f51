/**
 * What a provider keeps between two calls, which is the cached prefix of the prompt and items that it stores, is still of use
 * after the task was stopped: the next prompt begins with the last one, and refers to the same items.
 */
import { generateText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { alice, createHarness, running, signal } from '../../engine/test-support/engine-harness.ts'
import { durableModel } from '../model/durable-model.ts'
import { type ModelScript, type ScriptedModel, scriptedModel } from '../test-support/mock-model.ts'
import { refusals } from '../test-support/provider-rules.ts'
import { parkTool } from '../tools/task-tool.ts'
import { aiAgent } from './ai-agent.ts'

type Prompt = ScriptedModel['prompts'][number]

/** Without the reminders, which stand behind the conversation. */
function conversation(prompt: Prompt): Prompt {
  return JSON.stringify(prompt.at(-1)).includes('<reminders>') ? prompt.slice(0, -1) : prompt
}

const temperatures = [
  ['warm', {}],
  ['cold', { warmForMs: 0, cachedTasks: 1 }],
] as const

describe.each(temperatures)('an aiAgent that was stopped, %s', (_, options) => {
  it('begins each prompt with the last one, with the same tools, and gives items back to the provider', async () => {
    const [begun, release] = [signal(), signal()]
    const about: string[] = []
    const script: ModelScript = (turn, _prompt, { tools, providerOptions }) => {
      about.push(JSON.stringify({ tools, providerOptions }))
      const providerMetadata = { mock: { itemId: `item-${turn}` } }
      const calls = [
        [{ tool: 'await_resumption', id: 'p', input: { reason: 'night' } }],
        [{ tool: 'slow', id: 's' }],
      ][turn]
      return { text: `Turn ${turn}. `, providerMetadata, ...(calls === undefined ? {} : { calls }) }
    }
    const { model, prompts } = scriptedModel(script)
    const slow = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.fire()
        return release.promise.then(() => 'done')
      },
    })
    const worker = aiAgent({
      name: 'worker',
      description: 'works',
      model,
      system: 'Work.',
      tools: { slow, await_resumption: parkTool },
      providerOptions: { mock: { promptCacheKey: 'worker' } },
    })
    const harness = await createHarness({ agents: [worker], options })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.settled()
    await harness.engine.resume(alice, { taskId: id })
    await begun.promise
    const paused = harness.engine.pause(alice, { taskId: id })
    await harness.settled()
    release.fire()
    await paused
    await harness.settled()
    await harness.engine.resume(alice, { taskId: id })
    expect((await harness.ended(id)).state).toBe('completed')

    expect(prompts).toHaveLength(3)
    expect(prompts.flatMap(refusals)).toEqual([])
    expect(new Set(about).size).toBe(1)
    for (const [index, prompt] of prompts.slice(1).entries()) {
      const before = conversation(prompts[index] ?? [])
      expect(prompt.slice(0, before.length)).toEqual(before)
    }
    const answers = prompts[2]?.filter(({ role }) => role === 'assistant')
    expect(answers).toMatchObject([
      { content: [{ providerOptions: { mock: { itemId: 'item-0' } } }, {}] },
      { content: [{ providerOptions: { mock: { itemId: 'item-1' } } }, {}] },
    ])
  })
})

it.each([
  ['is still open after a warm pause', {}, 1],
  ['is opened again when the run is rebuilt', { warmForMs: 0 }, 2],
] as const)('a session with a provider that run has opened %s', async (_, options, sessions) => {
  let opened = 0
  const { model } = scriptedModel(() => ({ text: 'ok' }))
  const worker = running(async (task) => {
    const session = ++opened
    const ask = () => generateText({ model: durableModel(task, model), prompt: 'hi' })
    await ask()
    await task.park({ reason: 'night' })
    await ask()
    return `session ${session}`
  })
  const harness = await createHarness({ agents: [worker], options })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await harness.settled()
  await harness.engine.resume(alice, { taskId: id })
  const { statusMessage } = await harness.ended(id)
  expect(statusMessage?.parts).toEqual([{ text: `session ${sessions}` }])
})
