import { describe, expect, it } from 'vitest'
import { running } from '../../../engine/test-support/engine-harness.ts'
import { newSession, openHarness, prompt } from '../test-support/harness.ts'

async function shown(ops: readonly object[]) {
  const harness = await openHarness()
  const editor = await harness.editor()
  const sessionId = await newSession(editor)
  await editor.request('session/prompt', prompt(sessionId, ops)).catch(() => undefined)
  return editor
}

describe('what an editor is shown', () => {
  it('artifacts, each kind of content in its own block', async () => {
    const editor = await shown([
      { artifact: { name: 'a.txt', text: 'AB', chunks: 2 } },
      { artifact: { name: 'p.png', base64: 'iVBORw0K', mediaType: 'image/png' } },
      { artifact: { name: 'd.json', data: { x: 1 } } },
      { artifact: { name: 'z.zip', base64: 'UEsDBA==', mediaType: 'application/zip' } },
    ])
    const chunks = editor.updates('agent_message_chunk')
    expect(chunks.map(({ content }) => content.type)).toEqual([
      'text',
      'text',
      'image',
      'resource',
      'resource',
    ])
    expect(editor.text()).toBe('AB')
    expect(chunks[0].messageId).toBe(chunks[1].messageId)
    expect(chunks[1]._meta.lull.artifact).toMatchObject({ name: 'a.txt', append: true, last: true })
    expect(chunks[2].content).toMatchObject({ data: 'iVBORw0K', mimeType: 'image/png' })
    expect(JSON.parse(chunks[3].content.resource.text)).toEqual({ x: 1 })
    expect(chunks[4].content.resource).toMatchObject({
      blob: 'UEsDBA==',
      mimeType: 'application/zip',
    })
  })

  it('an artifact named plan as a plan', async () => {
    const entries = [
      { content: 'Build', status: 'completed' },
      { content: 'Ship', priority: 'high' },
    ]
    const editor = await shown([
      { artifact: { name: 'plan', data: { entries } } },
      { artifact: { name: 'plan', data: { entries: 'none' } } },
    ])
    expect(editor.updates('plan')).toEqual([
      {
        sessionUpdate: 'plan',
        entries: [
          { content: 'Build', priority: 'medium', status: 'completed' },
          { content: 'Ship', priority: 'high', status: 'pending' },
        ],
      },
    ])
    expect(editor.updates('agent_message_chunk')).toHaveLength(1)
  })

  it('usage, of the last report and of all', async () => {
    const editor = await shown([
      { usage: { inputTokens: 100, outputTokens: 20, costUsd: 0.5 } },
      { usage: { inputTokens: 150, outputTokens: 30, costUsd: 0.25 } },
    ])
    expect(editor.updates('usage_update').at(-1)).toMatchObject({
      used: 180,
      cost: { amount: 0.75, currency: 'USD' },
      _meta: { lull: { usage: { inputTokens: 250, outputTokens: 50, costUsd: 0.75 } } },
    })
  })

  it('steps and tools, done, failed or skipped', async () => {
    const editor = await shown([
      { step: 'plan', ms: 0 },
      {
        turn: [
          {
            tools: [
              { name: 'read', ms: 0 },
              { name: 'write', ms: 0 },
            ],
          },
        ],
      },
      { step: 'push', ms: 0, throw: 'no way' },
    ])
    expect(editor.updates('tool_call')).toMatchObject([
      { title: 'plan', status: 'completed' },
      { title: 'read', status: 'completed' },
      { title: 'write', status: 'completed' },
      { title: 'push', status: 'failed', content: [{ content: { text: 'no way' } }] },
    ])
    const ids = editor.updates('tool_call').map(({ toolCallId }) => toolCallId)
    expect(new Set(ids).size).toBe(4)
  })

  it('a step that is tried again as one call', async () => {
    let tries = 0
    const flaky = running(async (task) => {
      const once = () => {
        if (tries++ === 0) throw new Error('not yet')
        return 'done'
      }
      await task.step('flaky', once, { retry: { attempts: 1, backoffMs: 0 } })
    })
    const harness = await openHarness({ agents: [flaky] })
    const editor = await harness.editor()
    editor.begin('session/prompt', prompt(await newSession(editor), 'go'))
    await expect
      .poll(() => {
        harness.clock.advance(1)
        return editor.updates('tool_call_update')
      })
      .toHaveLength(1)
    expect(editor.updates('tool_call')).toMatchObject([
      { title: 'flaky', status: 'in_progress', content: [{ content: { text: 'not yet' } }] },
    ])
    const { toolCallId } = editor.updates('tool_call')[0]
    expect(editor.updates('tool_call_update')).toMatchObject([{ toolCallId, status: 'completed' }])
  })

  it('a child as a tool call that lasts as long as the child, without its messages', async () => {
    const editor = await shown([
      { delegate: { script: [{ say: 'inside' }] }, wait: true },
      { complete: 'outside' },
    ])
    const [call] = editor.updates('tool_call')
    expect(call).toMatchObject({ title: 'Delegated to script', status: 'in_progress' })
    expect(editor.updates('tool_call_update')).toMatchObject([
      { toolCallId: call.toolCallId, status: 'completed' },
    ])
    expect(editor.text()).toBe('outside')
  })
})
