/** The process dies at every record of a loop with batches, streaming, consent, a park and a sub-agent. */
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { noTextShown } from '../../core/messages/live-text.ts'
import { isTerminal } from '../../core/states.ts'
import type { Task } from '../../core/task.ts'
import { createHarnessThatCrashes } from '../../engine/test-support/crash-at-record.ts'
import {
  alice,
  createHarness,
  type Effects,
  effects,
  type Harness,
  running,
} from '../../engine/test-support/engine-harness.ts'
import { type ModelScript, type ScriptedModel, scriptedModel } from '../test-support/mock-model.ts'
import { refusals } from '../test-support/provider-rules.ts'
import { delegateTool, parkTool, remindTool } from '../tools/task-tool.ts'
import { aiAgent } from './ai-agent.ts'

const deployTo = (to: string) => ({ tool: 'deploy', id: `deploy-${to}`, input: { to } })

const script: ModelScript = (turn) =>
  [
    {
      text: 'I search and ask a helper. ',
      calls: [
        { tool: 'search', id: 'same', input: { q: 'one' } },
        { tool: 'search', id: 'same', input: { q: 'two' } },
        { tool: 'fails', id: 'f' },
        { tool: 'delegate', id: 'd', input: { agent: 'helper', message: 'sum it up' } },
        { tool: 'remind_self', id: 'r', input: { body: 'Deploy carefully.' } },
      ],
    },
    {
      text: 'Now I deploy. ',
      calls: [
        deployTo('test'),
        deployTo('prod'),
        { tool: 'search', id: 'same', input: { q: 'three' } },
      ],
    },
    { calls: [{ tool: 'await_resumption', id: 'p', input: { reason: 'the night' } }] },
  ][turn] ?? { text: 'All is deployed and checked.' }

function agents(model: ScriptedModel['model'], seen: Effects) {
  const tools = {
    search: tool({
      inputSchema: z.object({ q: z.string() }),
      execute: ({ q }) => {
        seen.note(`search ${q}`)
        return { found: q }
      },
    }),
    fails: tool({
      inputSchema: z.object({}),
      execute: (): Promise<string> => Promise.reject(new Error('no disk')),
    }),
    deploy: tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: true,
      execute: ({ to }) => seen.note(`deploy ${to}`),
    }),
    delegate: delegateTool({ helper: 'helps' }),
    remind_self: remindTool,
    await_resumption: parkTool,
  }
  const helper = running((task) => `helped: ${task.text}`, { name: 'helper' })
  return [aiAgent({ name: 'worker', description: 'works', model, tools, system: 'Work.' }), helper]
}

/** Answers and resumes until the task has ended. */
async function drive(harness: Harness, id: string): Promise<Task> {
  for (;;) {
    const task = await harness.until(
      id,
      ({ state, question, suspension }) =>
        isTerminal(state) || question !== undefined || suspension !== undefined,
    )
    const { question, suspension } = task
    if (isTerminal(task.state)) return task
    if (question?.consent !== undefined) {
      const { consentId, operation } = question.consent
      const decision = JSON.stringify(operation).includes('prod') ? 'denied' : 'granted'
      await harness.tell(id, [{ data: { consentId, decision } }])
    } else if (suspension !== undefined) {
      await harness.engine.resume(alice, { taskId: id, input: { morning: true } })
    }
  }
}

/** The text of every artifact as a reader gets it who follows from the start, or comes late. */
async function textsRead(harness: Harness, id: string): Promise<readonly string[]> {
  const reader = await harness.engine.follow(alice, id, { shown: noTextShown })
  const texts = new Map<string, string>()
  for (;;) {
    const update = await reader.next()
    if (update === undefined) return [...texts.values()].filter((text) => text !== '')
    const chunks =
      'chunks' in update
        ? update.chunks
        : update.records.flatMap((record) => (record.type === 'artifact' ? [record] : []))
    for (const { artifact, append } of chunks) {
      const text = artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
      texts.set(artifact.artifactId, (append ? (texts.get(artifact.artifactId) ?? '') : '') + text)
    }
  }
}

const answersIn = (prompt: ScriptedModel['prompts'][number]): string =>
  JSON.stringify(prompt.filter(({ role }) => role === 'assistant'))

describe('an aiAgent whose process dies', () => {
  it('at any record asks no answered question again, repeats no recorded tool and keeps a valid list', async () => {
    const first = scriptedModel(script)
    const whole = await createHarness({ agents: agents(first.model, effects()) })
    // Ids count, so the task has the same id in every life.
    const { id } = await whole.send('go')
    const wanted = await drive(whole, id)
    expect(wanted.state).toBe('completed')
    const texts = ['I search and ask a helper. ', 'Now I deploy. ', 'All is deployed and checked.']
    expect(await textsRead(whole, id)).toEqual(texts)
    const wantedPrompts = first.prompts.map(answersIn)

    for (let deadly = 3; deadly <= wanted.version; deadly++) {
      const { model, prompts } = scriptedModel(script)
      const seen = effects()
      const { harness, recover } = await createHarnessThatCrashes(
        { agents: agents(model, seen) },
        ({ seq, type }) => seq === deadly && type !== 'submitted',
      )
      const before = harness
        .send('go')
        .then(() => drive(harness, id))
        .catch(() => undefined)
      await Promise.race([before, died(harness)])
      const recovered = await recover()
      const task = await drive(recovered, id)
      expect(task.state).toBe('completed')
      expect(prompts.flatMap(refusals)).toEqual([])
      // An answer that was not recorded when the process died is asked for once more.
      expect(prompts.length - wantedPrompts.length).toBeLessThanOrEqual(1)
      expect([...new Set(prompts.map(answersIn))]).toEqual(wantedPrompts)
      for (const name of ['search one', 'search two', 'search three', 'deploy test']) {
        expect(seen.count(name)).toBeGreaterThanOrEqual(1)
        expect(seen.count(name)).toBeLessThanOrEqual(2)
      }
      expect(seen.list.length).toBeLessThanOrEqual(5)
      expect(seen.count('deploy prod')).toBe(0)
      expect(await textsRead(recovered, id)).toEqual(texts)
      expect(task.usage).toEqual(wanted.usage)
    }
  })
})

async function died(harness: Harness): Promise<void> {
  while (harness.life.alive()) await harness.settled()
}
