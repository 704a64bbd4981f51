import { generateText, stepCountIs, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AgentTask } from '../../engine/author/agent-task.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  running,
  signal,
} from '../../engine/test-support/engine-harness.ts'
import { durableModel } from '../model/durable-model.ts'
import { type ModelScript, scriptedModel } from '../test-support/mock-model.ts'
import { refusals } from '../test-support/provider-rules.ts'
import { type DurableToolsOptions, durableTools } from './durable-tools.ts'
import { toolContext } from './execute-call.ts'
import { parkTool } from './task-tool.ts'

const any = z.looseObject({})

/** An agent that calls `generateText` with these tools. */
function talking(script: ModelScript, tools: ToolSet, options?: DurableToolsOptions) {
  const { model, prompts } = scriptedModel(script)
  const run = async (task: AgentTask): Promise<string> => {
    const { text } = await generateText({
      model: durableModel(task, model),
      tools: durableTools(task, tools, options),
      prompt: task.text,
      stopWhen: stepCountIs(5),
    })
    return text
  }
  return { agents: [running(run)], prompts }
}

const callsOnce =
  (...calls: NonNullable<ReturnType<ModelScript>['calls']>): ModelScript =>
  (turn) =>
    turn === 0 ? { calls } : { text: 'done' }

const answerConsent = async (harness: Harness, id: string, decision: 'granted' | 'denied') => {
  const { question } = await harness.until(id, 'user-consent-required')
  const { consentId = '' } = question?.consent ?? {}
  await harness.tell(id, [{ data: { consentId, decision } }])
}

describe('durableTools', () => {
  it('D1: a call with a recorded result is not executed again', async () => {
    const seen = effects()
    const second = signal()
    const tools = {
      a: tool({ inputSchema: any, execute: () => seen.note('a') }),
      b: tool({ inputSchema: any, execute: () => second.promise.then(() => seen.note('b')) }),
    }
    const { agents, prompts } = talking(callsOnce({ tool: 'a' }, { tool: 'b', id: 'x' }), tools)
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    const recovered = await harness.recover()
    second.fire()
    expect((await recovered.ended(id)).state).toBe('completed')
    expect(seen.count('a')).toBe(1)
    expect(prompts.flatMap(refusals)).toEqual([])
    expect(prompts).toHaveLength(2)
  })

  it('D2: the same id in two turns does not replay the first result', async () => {
    let count = 0
    const tools = { next: tool({ inputSchema: any, execute: () => ++count }) }
    const script: ModelScript = (turn, prompt) =>
      turn < 2 ? { calls: [{ tool: 'next', id: 'same' }] } : { text: JSON.stringify(prompt) }
    const { agents } = talking(script, tools)
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.ended(id)
    const steps = (await harness.log(id)).filter((one) => one.type === 'step')
    expect(steps.flatMap((one) => (one.name === 'next' ? [one.result] : []))).toEqual([1, 2])
  })

  it('D3: calls are executed one at a time in order, so that a pause fits between two', async () => {
    const begun: string[] = []
    const ends = { a: signal(), b: signal() }
    const execute = (name: 'a' | 'b') => () => {
      begun.push(name)
      return ends[name].promise.then(() => name)
    }
    const tools = {
      a: tool({ inputSchema: any, execute: execute('a') }),
      b: tool({ inputSchema: any, execute: execute('b') }),
    }
    const { agents } = talking(callsOnce({ tool: 'a' }, { tool: 'b', id: 'x' }), tools)
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    expect(begun).toEqual(['a'])
    const paused = harness.engine.pause(alice, { taskId: id })
    await harness.settled()
    ends.a.fire()
    await paused
    expect(begun).toEqual(['a'])
    await harness.engine.resume(alice, { taskId: id })
    ends.b.fire()
    await harness.ended(id)
    expect(begun).toEqual(['a', 'b'])
  })

  it('D4: a denied call is not executed, and the model is told so', async () => {
    const seen = effects()
    const tools = {
      deploy: tool({ inputSchema: any, needsApproval: true, execute: () => seen.note('deploy') }),
    }
    const { agents, prompts } = talking(callsOnce({ tool: 'deploy', input: { to: 'prod' } }), tools)
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await answerConsent(harness, id, 'denied')
    await harness.ended(id)
    expect(seen.list).toEqual([])
    expect(JSON.stringify(prompts[1])).toContain('denied by the user')
    expect(prompts.flatMap(refusals)).toEqual([])
  })

  it('reports an interrupted call where the author wants it', async () => {
    const seen = effects()
    const never = signal()
    const pay = tool({
      inputSchema: any,
      execute: () => {
        seen.note('pay')
        return never.promise
      },
    })
    const script = callsOnce({ tool: 'pay' })
    const { agents, prompts } = talking(script, { pay }, { onInterrupted: 'report' })
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.settled()
    const recovered = await harness.recover()
    await recovered.ended(id)
    expect(seen.count('pay')).toBe(1)
    expect(JSON.stringify(prompts[1])).toContain('interrupted: it may have been executed')
  })

  it('gives a tool its idempotency key, and lets a tool park the task', async () => {
    const keys: string[] = []
    const tools = {
      pay: tool({
        inputSchema: any,
        async *execute(_input, options) {
          yield 'asking'
          keys.push(toolContext(options).step.idempotencyKey)
          yield 'paid'
        },
      }),
      await_resumption: parkTool,
    }
    const calls = [{ tool: 'pay' }, { tool: 'await_resumption', id: 'p', input: { reason: 'ci' } }]
    const { agents, prompts } = talking(callsOnce(...calls), tools)
    const harness = await createHarness({ agents })
    const { id } = await harness.send('go')
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id, input: { green: true } })
    await harness.ended(id)
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]+$/)])
    const told = JSON.stringify(prompts[1])
    expect(told).toContain('paid')
    expect(told).toContain('"green":true')
  })
})
