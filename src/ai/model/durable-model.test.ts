/** `ask-model.ts` through `durableModel`. */
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import { createHarnessThatCrashes } from '../../engine/test-support/crash-at-record.ts'
import {
  aborted,
  alice,
  createHarness,
  effects,
  running,
  signal,
} from '../../engine/test-support/engine-harness.ts'
import { scriptedModel } from '../test-support/mock-model.ts'
import { durableTools } from '../tools/durable-tools.ts'
import { durableModel } from './durable-model.ts'

const weather = (done: (city: string) => void) =>
  tool({
    description: 'the weather',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => {
      done(city)
      return `sunny in ${city}`
    },
  })

const talk = () =>
  scriptedModel((turn) =>
    turn === 0
      ? { text: 'I look. ', calls: [{ tool: 'weather', input: { city: 'Rome' } }] }
      : { text: 'It is sunny.' },
  )

/** Both ways to ask a model, by the same words. */
const ways: Readonly<
  Record<
    string,
    (
      task: AgentTask,
      ...args: readonly [MockLanguageModelV3, (city: string) => void]
    ) => Promise<string>
  >
> = {
  async generateText(task, model, done) {
    const { text } = await generateText({
      model: durableModel(task, model),
      tools: durableTools(task, { weather: weather(done) }),
      prompt: task.text,
      stopWhen: stepCountIs(5),
    })
    return text
  },
  async streamText(task, model, done) {
    const { textStream } = streamText({
      model: durableModel(task, model),
      tools: durableTools(task, { weather: weather(done) }),
      prompt: task.text,
      stopWhen: stepCountIs(5),
    })
    let text = ''
    for await (const part of textStream) text += part
    return text.replace('I look. ', '')
  },
}

describe.each(Object.keys(ways))('%s with durableModel', (way) => {
  const run = ways[way] ?? (() => Promise.reject(new Error('no such way')))

  it('M1: a crash at any record asks for no recorded answer again', async () => {
    const { model: first } = talk()
    const whole = await createHarness({ agents: [running((task) => run(task, first, () => {}))] })
    const { id: wholeId } = await whole.send('How is it?')
    const last = (await whole.ended(wholeId)).version
    for (let deadly = 3; deadly <= last; deadly++) {
      const { model, prompts } = talk()
      const seen = effects()
      const agents = [running((task) => run(task, model, seen.note))]
      const { harness, recover } = await createHarnessThatCrashes(
        { agents },
        ({ seq }) => seq === deadly,
      )
      const { id } = await harness.send('How is it?')
      await harness.settled()
      const recovered = await recover()
      const task = await recovered.ended(id)
      expect(task.state).toBe('completed')
      const records = await recovered.log(id)
      expect(records.filter(({ type }) => type === 'usage')).toHaveLength(2)
      expect(prompts).toHaveLength(2)
      expect(seen.count('Rome')).toBe(1)
      expect(task.statusMessage?.parts).toEqual([{ text: 'It is sunny.' }])
    }
  })

  it('M2: a tool runs only after the answer that calls it is recorded', async () => {
    const { model } = talk()
    const recorded: boolean[] = []
    const agents = [
      running((task) =>
        run(task, model, () => {
          recorded.push(true)
        }),
      ),
    ]
    const { harness } = await createHarnessThatCrashes(
      { agents },
      (record) => record.type === 'step',
    )
    await harness.send('How is it?')
    await harness.settled()
    // The process died with the record of the first answer, so the tool had no chance.
    expect(recorded).toEqual([])
  })
})

describe('durableModel', () => {
  it('M3: shows the text of the attempt that counts, and the SDK sees no other', async () => {
    let attempts = 0
    const model = new MockLanguageModelV3({
      doStream: async () => {
        attempts++
        const isFirst = attempts === 1
        return {
          stream: simulateReadableStream({
            initialDelayInMs: null,
            chunkDelayInMs: null,
            chunks: [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: isFirst ? 'Hal' : 'Hello' },
              ...(isFirst
                ? []
                : [
                    {
                      type: 'finish' as const,
                      finishReason: { unified: 'stop' as const, raw: undefined },
                      usage: {
                        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
                        outputTokens: { total: 1, text: 1, reasoning: 0 },
                      },
                    },
                  ]),
            ],
          }),
        }
      },
    })
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const { textStream } = streamText({ model: durableModel(task, model), prompt: 'hi' })
          const parts: string[] = []
          for await (const part of textStream) parts.push(part)
          return parts.join('|')
        }),
      ],
    })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.pass(1_000)
    const task = await harness.ended(id)
    expect(task.statusMessage?.parts).toEqual([{ text: 'Hello' }])
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([[{ text: 'Hello' }]])
    expect(attempts).toBe(2)
  })

  it('M4: reports the usage of an answer with its price', async () => {
    const { model } = scriptedModel(() => ({ text: 'ok', usage: { input: 1_000, output: 100 } }))
    const price = ({ inputTokens = 0, outputTokens = 0 }) => (inputTokens + outputTokens) / 1e6
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await generateText({ model: durableModel(task, model, { price }), prompt: 'hi' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    const { usage } = await harness.ended(id)
    expect(usage).toEqual({ inputTokens: 1_000, outputTokens: 100, costUsd: 0.0011 })
  })

  it('an error that the provider calls permanent is not tried again', async () => {
    let asked = 0
    const model = new MockLanguageModelV3({
      doGenerate: async () => {
        asked++
        throw Object.assign(new Error('no such model'), { isRetryable: false })
      },
    })
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          await generateText({ model: durableModel(task, model), prompt: 'hi' })
        }),
      ],
    })
    const { id } = await harness.send('go')
    const task = await harness.ended(id)
    expect([task.state, asked]).toEqual(['failed', 1])
    expect(task.failure?.message).toContain('no such model')
  })

  it('an interrupting pause drops the attempt, and the resume asks anew', async () => {
    const begun = [signal(), signal()]
    let asked = 0
    const { model: good } = scriptedModel(() => ({ text: 'fine' }))
    const model = new MockLanguageModelV3({
      doGenerate: async (call) => {
        begun[asked++]?.fire()
        if (asked === 1) return aborted(call.abortSignal ?? new AbortController().signal)
        return good.doGenerate(call)
      },
    })
    const harness = await createHarness({
      agents: [
        running(async (task) => {
          const { text } = await generateText({ model: durableModel(task, model), prompt: 'hi' })
          return text
        }),
      ],
    })
    const { id } = await harness.send('go')
    await begun[0]?.promise
    await harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.engine.resume(alice, { taskId: id })
    const task = await harness.ended(id)
    expect(task.statusMessage?.parts).toEqual([{ text: 'fine' }])
    expect(asked).toBe(2)
  })
})
