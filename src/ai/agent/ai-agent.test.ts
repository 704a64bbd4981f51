/** The loop, with the batches of `run-calls.ts`. */
import { hasToolCall, stepCountIs, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Task } from '../../core/task.ts'
import {
  alice,
  createHarness,
  effects,
  type Harness,
  running,
  signal,
} from '../../engine/test-support/engine-harness.ts'
import { type ModelScript, scriptedModel } from '../test-support/mock-model.ts'
import { refusals } from '../test-support/provider-rules.ts'
import { toolContext } from '../tools/execute-call.ts'
import { SKIPPED } from '../tools/results.ts'
import { delegateTool, parkTool, remindTool } from '../tools/task-tool.ts'
import { aiAgent } from './ai-agent.ts'
import type { AiAgentOptions } from './options.ts'

const any = z.looseObject({})
const base = { name: 'worker', description: 'works' }

async function start(script: ModelScript, options: Partial<AiAgentOptions> = {}) {
  const { model, prompts } = scriptedModel(script)
  const worker = aiAgent({ ...base, model, ...options })
  const helper = running((task) => `helped with ${task.text}`, { name: 'helper' })
  const harness = await createHarness({ agents: [worker, helper] })
  const { id } = await harness.send('go')
  return { harness, id, prompts }
}

const textsOf = ({ artifacts }: Task): readonly string[] =>
  artifacts.flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])))

const consent = async (harness: Harness, id: string, decision: 'granted' | 'denied') => {
  const { question } = await harness.until(id, 'user-consent-required')
  await harness.tell(id, [{ data: { consentId: question?.consent?.consentId ?? '', decision } }])
}

describe('aiAgent', () => {
  it('answers, streams its text as an artifact and reports its usage', async () => {
    const { harness, id, prompts } = await start(() => ({ text: 'Hello there.' }), {
      system: 'Be kind.',
    })
    const task = await harness.ended(id)
    expect(task.state).toBe('completed')
    expect(textsOf(task)).toEqual(['Hello there.'])
    expect(task.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 })
    expect(prompts[0]).toMatchObject([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ text: 'go' }] },
    ])
  })

  it('V5: reads a message with links that are no web address, or that the model does not load', async () => {
    const { model, prompts } = scriptedModel(() => ({ text: 'done' }))
    const supportedUrls = { 'image/*': [/^https:\/\/lull\.test\//] }
    Object.defineProperty(model, 'supportedUrls', { value: supportedUrls })
    const harness = await createHarness({ agents: [aiAgent({ ...base, model })] })
    const { id } = await harness.send([
      { url: 'file:///home/me/notes.md', filename: 'notes.md', mediaType: 'image/png' },
      { url: 'no address', mediaType: 'image/png' },
      { url: 'http://127.0.0.1:9/never-loaded.png', mediaType: 'image/png' },
      { url: 'https://lull.test/a.pdf', mediaType: 'application/pdf' },
      { url: 'https://lull.test/a.png', mediaType: 'image/png' },
    ])
    expect((await harness.ended(id)).state).toBe('completed')
    expect(prompts[0]?.at(-1)?.content).toMatchObject([
      { type: 'text', text: 'notes.md: file:///home/me/notes.md' },
      { type: 'text', text: 'no address' },
      { type: 'text', text: 'http://127.0.0.1:9/never-loaded.png' },
      { type: 'text', text: 'https://lull.test/a.pdf' },
      { type: 'file', data: new URL('https://lull.test/a.png') },
    ])
  })

  it('C1: gives every call a result: done, failed, of a wrong input and of an unknown tool', async () => {
    const tools = {
      good: tool({ inputSchema: any, execute: () => ({ ok: true }) }),
      bad: tool({
        inputSchema: any,
        execute: (): Promise<string> => Promise.reject(new Error('no disk')),
      }),
      strict: tool({ inputSchema: z.object({ n: z.number() }), execute: () => 'never' }),
    }
    const calls = [
      { tool: 'good', id: 'same' },
      { tool: 'bad', id: 'same' },
      { tool: 'strict', id: 'c3', input: { n: 'one' } },
      { tool: 'strict', id: 'c4', input: 'no json' },
      { tool: 'unknown', id: 'c5' },
    ]
    const { harness, id, prompts } = await start(
      (turn) => (turn === 0 ? { text: 'I try. ', calls } : { text: 'done' }),
      { tools },
    )
    expect((await harness.ended(id)).state).toBe('completed')
    expect(prompts.flatMap(refusals)).toEqual([])
    const told = JSON.stringify(prompts[1]?.at(-1))
    expect(told).toContain('{"ok":true}')
    expect(told).toContain('no disk')
    expect(told).not.toContain('skipped')
  })

  it('C2: asks for all consents before it executes anything, and executes what was granted', async () => {
    const seen = effects()
    const gated = tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: ({ to }) => to !== 'dev',
      execute: ({ to }) => seen.note(to),
    })
    const calls = ['dev', 'test', 'prod'].map((to) => ({ tool: 'gated', id: to, input: { to } }))
    const { harness, id, prompts } = await start(
      (turn) => (turn === 0 ? { calls } : { text: 'done' }),
      { tools: { gated } },
    )
    const { question } = await harness.until(id, 'user-consent-required')
    expect(question?.consent?.operation).toMatchObject({ tool: 'gated', input: { to: 'test' } })
    expect(seen.list).toEqual([])
    await consent(harness, id, 'granted')
    await harness.settled()
    expect(seen.list).toEqual([])
    await consent(harness, id, 'denied')
    await harness.ended(id)
    expect(seen.list).toEqual(['dev', 'test'])
    expect(prompts.flatMap(refusals)).toEqual([])
    expect(JSON.stringify(prompts[1]?.at(-1))).toContain('denied by the user')
  })

  it('C3: an interrupting reminder skips the rest of a batch, and the model sees it next', async () => {
    const seen = effects()
    const first = signal()
    const begun = signal()
    const tools = {
      slow: tool({
        inputSchema: any,
        execute: () => {
          begun.fire()
          return first.promise
        },
      }),
      other: tool({ inputSchema: any, execute: () => seen.note('other') }),
      await_resumption: parkTool,
    }
    const calls = [
      { tool: 'slow', id: '1' },
      { tool: 'other', id: '2' },
      { tool: 'await_resumption', id: '3', input: { reason: 'never' } },
    ]
    const { harness, id, prompts } = await start(
      (turn) => (turn === 0 ? { calls } : { text: 'done' }),
      { tools },
    )
    await begun.promise
    const reminder = { body: 'Stop, the branch is gone.', mode: 'interrupt_immediate' } as const
    await harness.engine.remind(alice, { taskId: id, reminder })
    first.fire()
    await harness.ended(id)
    expect(seen.list).toEqual([])
    expect(JSON.stringify(prompts[1])).toContain('skipped: not executed')
    expect(prompts[1]?.at(-1)).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringContaining('<reminders>') }],
    })
    expect(prompts.flatMap(refusals)).toEqual([])
  })

  it('C3: a tool that asks the user in a batch that is interrupted is told as skipped', async () => {
    const begun = signal()
    const release = signal()
    const tools = {
      asks: tool({
        inputSchema: any,
        execute: async (_, options) => {
          begun.fire()
          await release.promise
          return toolContext(options).ask({ message: 'Which branch?' }).text
        },
      }),
      other: tool({ inputSchema: any, execute: () => 'other' }),
    }
    const calls = [
      { tool: 'asks', id: '1' },
      { tool: 'other', id: '2' },
    ]
    const { harness, id, prompts } = await start(
      (turn) => (turn === 0 ? { calls } : { text: 'done' }),
      { tools },
    )
    await begun.promise
    const reminder = { body: 'Stop, the branch is gone.', mode: 'interrupt_immediate' } as const
    await harness.engine.remind(alice, { taskId: id, reminder })
    release.fire()
    expect((await harness.ended(id)).state).toBe('completed')
    expect(JSON.stringify(prompts[1])).not.toContain('lull:question')
    expect(prompts[1]?.find(({ role }) => role === 'tool')?.content).toMatchObject([
      { toolCallId: '1', output: SKIPPED },
      { toolCallId: '2', output: SKIPPED },
    ])
  })

  it('pauses between two tools of a batch, and the rest runs after the resume', async () => {
    const ran: string[] = []
    const begun = signal()
    const first = signal()
    const tools = {
      a: tool({
        inputSchema: any,
        execute: () => {
          begun.fire()
          return first.promise.then(() => ran.push('a'))
        },
      }),
      b: tool({ inputSchema: any, execute: () => ran.push('b') }),
    }
    const { harness, id, prompts } = await start(
      (turn) =>
        turn === 0 ? { calls: [{ tool: 'a' }, { tool: 'b', id: 'x' }] } : { text: 'done' },
      { tools },
    )
    await begun.promise
    const paused = harness.engine.pause(alice, { taskId: id, mode: 'interrupt_immediate' })
    await harness.settled()
    first.fire()
    await paused
    expect(ran).toEqual(['a'])
    await harness.engine.resume(alice, { taskId: id })
    await harness.ended(id)
    expect(ran).toEqual(['a', 'b'])
    expect(prompts.flatMap(refusals)).toEqual([])
  })

  it('parks, delegates at the same time, reminds itself and asks for results it cannot make', async () => {
    const tools = {
      await_resumption: parkTool,
      delegate: delegateTool({ helper: 'helps' }),
      remind_self: remindTool,
      human: { inputSchema: any },
    }
    const calls = [
      { tool: 'await_resumption', id: '1', input: { reason: 'ci', onEvent: 'ci.done' } },
      { tool: 'delegate', id: '2', input: { agent: 'helper', message: 'one' } },
      { tool: 'delegate', id: '3', input: { agent: 'helper', message: 'two' } },
      { tool: 'remind_self', id: '4', input: { body: 'Be brief.' } },
      { tool: 'human', id: '5', input: { question: 'colour?' } },
    ]
    const { harness, id, prompts } = await start(
      (turn) => (turn === 0 ? { calls } : { text: 'done' }),
      { tools },
    )
    await harness.until(id, 'input-required')
    await harness.tell(id, 'blue')
    await harness.until(id, 'paused-by-agent')
    await harness.emit('ci.done')
    expect((await harness.ended(id)).state).toBe('completed')
    const told = JSON.stringify(prompts[1])
    for (const part of ['helped with one', 'helped with two', 'blue', 'ci.done', 'Be brief.']) {
      expect(told).toContain(part)
    }
    expect(prompts.flatMap(refusals)).toEqual([])
  })

  it('shows reminders in one call and never in the conversation', async () => {
    const { model, prompts } = scriptedModel((turn) =>
      turn === 0 ? { calls: [{ tool: 'a' }] } : { text: 'done' },
    )
    const tools = { a: tool({ inputSchema: any, execute: () => 1 }) }
    const harness = await createHarness({ agents: [aiAgent({ ...base, model, tools })] })
    const { id } = await harness.send('go', {
      reminders: [{ body: 'Tests are red.', ttlTurns: 1 }],
    })
    await harness.ended(id)
    expect(JSON.stringify(prompts[0])).toContain('Tests are red.')
    expect(JSON.stringify(prompts[1])).not.toContain('Tests are red.')
  })

  it('stops by `until`, by default after 20 turns', async () => {
    const tools = { a: tool({ inputSchema: any, execute: () => 1 }) }
    const script: ModelScript = () => ({ calls: [{ tool: 'a' }] })
    const turns = async (options: Partial<AiAgentOptions>) => {
      const { harness, id, prompts } = await start(script, { tools, ...options })
      expect((await harness.ended(id)).state).toBe('completed')
      return prompts.length
    }
    expect(await turns({ until: stepCountIs(3) })).toBe(3)
    expect(await turns({ until: [stepCountIs(9), hasToolCall('a')] })).toBe(1)
    expect(await turns({})).toBe(20)
  })

  it('parks when its budget is used up, and a resume allows as much again', async () => {
    const tools = { a: tool({ inputSchema: any, execute: () => 1 }) }
    const { harness, id, prompts } = await start(
      (turn) => (turn < 3 ? { calls: [{ tool: 'a' }] } : { text: 'done' }),
      { tools, budget: { costUsd: 2 }, price: () => 1 },
    )
    const task = await harness.until(id, 'paused-by-agent')
    expect(task.suspension?.reason).toBe('budget: costUsd 2 of 2')
    expect(prompts).toHaveLength(2)
    await harness.engine.resume(alice, { taskId: id })
    await harness.ended(id)
    expect(prompts).toHaveLength(4)
    const { model } = scriptedModel(() => ({}))
    expect(() => aiAgent({ ...base, model, budget: { costUsd: 1 } })).toThrow('price')
  })

  it('goes on from a digest by the model after a resume without transcript', async () => {
    const script: ModelScript = (turn, prompt) => {
      if (JSON.stringify(prompt[0]).includes('Summarize')) return { text: 'we deployed v1' }
      const isNew = !JSON.stringify(prompt).includes('we deployed v1')
      const calls = [{ tool: 'await_resumption', input: { reason: 'night' } }]
      return turn === 0 && isNew ? { calls } : { text: 'done' }
    }
    const { harness, id, prompts } = await start(script, { tools: { await_resumption: parkTool } })
    await harness.until(id, 'paused-by-agent')
    await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
    expect((await harness.ended(id)).state).toBe('completed')
    // Two turns and the digest.
    expect((await harness.get(id)).usage).toMatchObject({ inputTokens: 30, outputTokens: 15 })
    const last = prompts.at(-1)
    expect(last?.some(({ role }) => role !== 'user')).toBe(false)
    expect(JSON.stringify(last)).toContain('we deployed v1')
  })

  it('compacts its transcript between two turns when the window is nearly full', async () => {
    const tools = { a: tool({ inputSchema: any, execute: () => 'x'.repeat(50) }) }
    let spent = 0
    const script: ModelScript = (_turn, prompt) => {
      if (JSON.stringify(prompt[0]).includes('Summarize')) {
        spent += 100
        return { text: 'all good', usage: { input: 10, output: 100 } }
      }
      spent++
      const isCompact = JSON.stringify(prompt).includes('all good')
      const usage = { input: isCompact ? 10 : 30 * prompt.length, output: 1 }
      return isCompact ? { text: 'done', usage } : { calls: [{ tool: 'a' }], usage }
    }
    const { harness, id, prompts } = await start(script, { tools, contextWindow: 200 })
    expect((await harness.ended(id)).state).toBe('completed')
    expect(await harness.types(id)).toContain('compacted')
    expect(prompts.flatMap(refusals)).toEqual([])
    // Every call of the model is counted, that for the summary too.
    expect((await harness.get(id)).usage).toMatchObject({ outputTokens: spent })
    expect(spent).toBeGreaterThan(prompts.length)
  })

  it('with `stream: false` answers with the final message', async () => {
    const { harness, id } = await start(() => ({ text: 'Hi' }), { stream: false })
    const task = await harness.ended(id)
    expect(task.statusMessage?.parts).toEqual([{ text: 'Hi' }])
    expect(task.artifacts).toEqual([])
  })
})
