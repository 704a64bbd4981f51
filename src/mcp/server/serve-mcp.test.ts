/** Tasks as tools, called by the official MCP client in both versions of the specification. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../client/client.ts'
import type { ScriptOp } from '../../testing/script-agent/ops.ts'
import { serveOn } from './serve-mcp.ts'
import { useScriptServer } from './test-support/script-server.ts'

const serverUrl = useScriptServer()

const summary = z.looseObject({
  taskId: z.string().default(''),
  state: z.string().default(''),
  message: z.unknown().optional(),
})

async function open(mode: 'legacy' | 'auto') {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  serveOn(createClient({ url: serverUrl() }), ours)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const reminded: unknown[] = []
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === 'notifications/reminder') reminded.push(params)
  }
  await client.connect(theirs)
  const call = async (name: string, input: Record<string, unknown>) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: input })
    return { isError, ...summary.parse(structuredContent) }
  }
  const send = (...script: readonly ScriptOp[]) =>
    call('task_send', { message: JSON.stringify({ script }) })
  return { client, call, send, reminded }
}

describe.each(['legacy', 'auto'] as const)('lull mcp for a client that says %s', (mode) => {
  it('lists its tools, and gives back what a task answered', async () => {
    const { client, send } = await open(mode)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'task_send',
      'task_get',
      'task_answer',
      'task_pause',
      'task_resume',
      'task_cancel',
      'task_remind',
    ])
    const done = await send({ artifact: { name: 'out', text: 'hi' } }, { complete: 'ready' })
    expect(done).toMatchObject({
      state: 'completed',
      message: 'ready',
      artifacts: [{ name: 'out', content: ['hi'] }],
    })
  })

  it('answers questions and consents, and resumes what is parked', async () => {
    const { call, send } = await open(mode)
    const asked = await send(
      { ask: 'Squash or merge?' },
      { consent: { prompt: 'Push?', operation: { push: 'main' } } },
      { park: { reason: 'ci' } },
      { complete: 'done' },
    )
    const { taskId } = asked
    expect(asked).toMatchObject({ state: 'input-required', message: 'Squash or merge?' })
    const consent = await call('task_answer', { taskId, text: 'Squash' })
    expect(consent).toMatchObject({
      state: 'user-consent-required',
      consent: { operation: { push: 'main' } },
    })
    const parked = await call('task_answer', { taskId, consent: 'granted' })
    expect(parked).toMatchObject({ state: 'paused-by-agent', suspension: { reason: 'ci' } })
    expect((await call('task_resume', { taskId, input: { ok: true } })).state).toBe('completed')
    expect(await call('task_pause', { taskId })).toMatchObject({ isError: true })
  })

  it('pauses, reminds with the envelope, and tells the client when a reminder is shown', async () => {
    const { call, send, reminded } = await open(mode)
    const { taskId } = await send(
      { park: { reason: 'reminders' } },
      { turn: [{ echo: 'reminders' }] },
      { complete: 'done' },
    )
    const reminder = { body: 'Tests are red.', tags: ['ci'], ttlTurns: 2, dedupeKey: 'ci' }
    expect(await call('task_remind', { taskId, reminder })).toMatchObject({ outcome: 'accepted' })
    expect(JSON.stringify(await call('task_resume', { taskId }))).toContain('Tests are red.')
    expect(reminded).toContainEqual(
      expect.objectContaining({
        taskId,
        event: 'emitted',
        reminder: expect.objectContaining(reminder),
      }),
    )
    const other = await call('task_send', {
      message: JSON.stringify({ script: [{ step: 'long', ms: 600_000 }] }),
      waitSeconds: 0,
    })
    const pause = { taskId: other.taskId, reason: 'later', mode: 'interrupt_immediate' }
    await call('task_pause', pause)
    expect(await call('task_get', { taskId: other.taskId })).toMatchObject({
      state: 'paused-by-client',
    })
    expect(await call('task_cancel', { taskId: other.taskId })).toMatchObject({ state: 'canceled' })
  })
})
