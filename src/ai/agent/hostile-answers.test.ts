/** Answers of models that are no normal answers: no usage, an error, half an answer, tools with names of `Object.prototype`. */
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from '../../core/messages/message.ts'
import type { Task } from '../../core/task.ts'
import { createHarness } from '../../engine/test-support/engine-harness.ts'
import { type ModelScript, type ScriptedAnswer, scriptedModel } from '../test-support/mock-model.ts'
import { aiAgent } from './ai-agent.ts'
import type { AiAgentOptions } from './options.ts'

const base = { name: 'worker', description: 'works' }

async function ended(script: ModelScript, options: Partial<AiAgentOptions> = {}) {
  const { model, prompts } = scriptedModel(script)
  const retry = { attempts: 2, backoffMs: 1_000 }
  const harness = await createHarness({ agents: [aiAgent({ ...base, model, retry, ...options })] })
  const { id } = await harness.send('go')
  // The waits between attempts.
  for (let n = 0; n < 3; n++) await harness.pass(60_000)
  const task = await harness.get(id)
  return { harness, task, prompts }
}

const finalText = ({ statusMessage }: Task): string | undefined =>
  statusMessage && textOf(statusMessage)
const artifactTexts = ({ artifacts }: Task): readonly string[] =>
  artifacts.flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])))

describe('an answer without usage', () => {
  it.each<[string, NonNullable<AiAgentOptions['price']>]>([
    [
      'gives no number',
      ({ inputTokens, outputTokens }) => Number(inputTokens) + Number(outputTokens),
    ],
    ['gives a number below zero', () => -1],
    ['throws', ({ inputTokens }) => Number(inputTokens?.toFixed().length.toString()) || fail()],
  ])(
    'completes the task where its price %s, and logs that the cost is unknown',
    async (_, price) => {
      const { task, harness, prompts } = await ended(() => ({ text: 'Done.', usage: 'none' }), {
        price,
      })
      expect(task.state).toBe('completed')
      expect(prompts).toHaveLength(1)
      expect(task.usage?.costUsd ?? 0).toBe(0)
      const said = harness.said.filter(({ text }) => text.includes('cost'))
      expect(said.map(({ level }) => level)).toEqual(['warn'])
    },
  )

  it('has the price that does not depend on it', async () => {
    const { task } = await ended(() => ({ text: 'Done.', usage: 'none' }), { price: () => 0.5 })
    expect(task.usage).toMatchObject({ costUsd: 0.5 })
  })
})

function fail(): never {
  throw new Error('no tokens')
}

describe.each(['text', false] as const)(
  'an answer that ends with an error (stream: %s)',
  (stream) => {
    const broken: ScriptedAnswer = { text: 'Half an ans', finish: 'error' }

    it('is a failed attempt, and the model is asked again', async () => {
      let asked = 0
      const { task, prompts } = await ended(() => (asked++ === 0 ? broken : { text: 'Whole.' }), {
        stream,
      })
      expect(task.state).toBe('completed')
      expect(prompts).toHaveLength(2)
      expect([...artifactTexts(task), finalText(task)].join('')).toBe('Whole.')
    })

    it('fails the task when every attempt ends so', async () => {
      const { task, prompts } = await ended(() => broken, { stream })
      expect(task.state).toBe('failed')
      expect(finalText(task)).toContain('ended its answer with an error')
      expect(prompts).toHaveLength(3)
    })
  },
)

describe('an answer that is cut off at the limit of output tokens', () => {
  const script: ModelScript = (turn) =>
    turn === 0 ? { text: 'One, two, ', finish: 'length' } : { text: 'three.' }

  it('completes the task, which says so', async () => {
    const { task } = await ended(script)
    expect(task.state).toBe('completed')
    expect(artifactTexts(task)).toEqual(['One, two, '])
    expect(task.history.map(textOf).join()).toContain('cut off')
  })

  it('says so also where the answer is the final message', async () => {
    const { task } = await ended(script, { stream: false })
    expect(finalText(task)).toBe('One, two, ')
    expect(task.history.map(textOf).join()).toContain('cut off')
  })

  it('goes on with onCutOff: continue', async () => {
    const { task, prompts } = await ended(script, { onCutOff: 'continue', stream: false })
    expect(finalText(task)).toBe('One, two, three.')
    expect(prompts[1]?.at(-1)).toMatchObject({ role: 'user' })
    expect(prompts[1]?.at(-2)).toMatchObject({
      role: 'assistant',
      content: [{ text: 'One, two, ' }],
    })
  })

  it('ends after 20 turns with onCutOff: continue, when every answer is cut off', async () => {
    const { task, prompts } = await ended(() => ({ text: 'x', finish: 'length' }), {
      onCutOff: 'continue',
    })
    expect(task.state).toBe('completed')
    expect(task.history.map(textOf).join()).toContain('cut off')
    expect(prompts).toHaveLength(20)
  })

  it('fails the task with onCutOff: fail', async () => {
    const { task } = await ended(script, { onCutOff: 'fail' })
    expect(task.state).toBe('failed')
    expect(finalText(task)).toContain('cut off')
  })
})

describe.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'a tool named %s',
  (name) => {
    const script: ModelScript = (turn) =>
      turn === 0 ? { calls: [{ tool: name, input: {} }] } : { text: 'Done.' }
    const named = (one: ReturnType<typeof make>) => Object.fromEntries([[name, one]])
    const make = (execute: () => string) => tool({ inputSchema: z.looseObject({}), execute })

    it('that the agent does not have is refused to the model, and the task goes on', async () => {
      const { task, prompts } = await ended(script, { tools: { other: make(() => 'x') } })
      expect(task.state).toBe('completed')
      expect(JSON.stringify(prompts[1]?.at(-1))).toContain('unavailable tool')
    })

    it('that an agent without tools does not have is refused to the model', async () => {
      const { task } = await ended(script)
      expect(task.state).toBe('completed')
    })

    it('that the agent has is executed', async () => {
      let runs = 0
      const tools = named(make(() => `run ${++runs}`))
      const { task, prompts } = await ended(script, { tools })
      expect(task.state).toBe('completed')
      expect(JSON.stringify(prompts[1]?.at(-1))).toContain('run 1')
    })
  },
)
