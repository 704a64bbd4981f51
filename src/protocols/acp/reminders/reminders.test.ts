import { describe, expect, it } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import type { Editor } from '../test-support/editor.ts'
import { checkExtension } from '../test-support/extension-traffic.ts'
import { anyone, type Harness, newSession, openHarness, prompt } from '../test-support/harness.ts'

const looks = [{ turn: [{ echo: 'reminders' }] }]

async function scene() {
  const harness = await openHarness()
  const editor = await harness.editor()
  return { harness, editor, sessionId: await newSession(editor) }
}

/** Bodies of the reminders the last turn that looked was shown. */
function shown(editor: Editor): readonly string[] {
  const text = editor.updates('agent_message_chunk').at(-1)?.content.resource?.text
  return text === undefined ? [] : JSON.parse(text).map(({ body }: { body: string }) => body)
}

async function overA2A(harness: Harness, contextId: string): Promise<string> {
  const parts = [{ data: { script: [{ step: 'one', ms: 10 }, ...looks] } }]
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts, contextId }
  const sent = await harness.engine.send(anyone, { message, origin: 'a2a' })
  return sent.kind === 'task' ? sent.task.id : ''
}

describe('a reminder', () => {
  it.each([
    ['_session/inject_reminder', { body: 'tests first' }],
    ['session/inject_reminder', { reminder: { body: 'tests first' } }],
    ['_session/remind', { body: 'tests first', tags: ['a'], ttlTurns: 2 }],
    ['session/remind', { reminder: { body: 'tests first', id: 'r-1' } }],
  ])('by %s reaches the next turn of a parked session', async (method, fields) => {
    const { editor, sessionId } = await scene()
    const ops = [{ park: { reason: 'x' } }, ...looks]
    await editor.request('session/prompt', prompt(sessionId, ops))
    const answer = await editor.request(method, { sessionId, ...fields })
    expect(answer).toMatchObject({ dedupedCount: 0, acceptedAt: expect.stringMatching(/Z$/) })
    await editor.request('session/prompt', prompt(sessionId, 'go'))
    expect(shown(editor)).toContain('tests first')
    expect(editor.notifications('_session/reminder').map(({ event }) => event)).toContain('emitted')
    checkExtension(editor.received)
  })

  it('is no message: nothing of it is in the history, live or replayed', async () => {
    const { editor, sessionId } = await scene()
    await editor.request('_session/remind', { sessionId, body: 'a secret rule' })
    await editor.request('session/prompt', prompt(sessionId, [{ say: 'x' }]))
    await editor.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    expect(JSON.stringify(editor.updates('user_message_chunk'))).not.toContain('a secret rule')
  })

  it('on an idle session waits for the next prompt, across a restart', async () => {
    const { harness, editor, sessionId } = await scene()
    await editor.request('_session/remind', { sessionId, body: 'one', dedupeKey: 'k' })
    const second = await editor.request('_session/remind', {
      sessionId,
      body: 'two',
      dedupeKey: 'k',
    })
    expect(second.dedupedCount).toBe(1)
    await editor.request('_session/remind', { sessionId, body: 'three', id: 'r' })
    await editor.request('_session/remind', { sessionId, body: 'three', id: 'r' })
    await expect(
      editor.request('_session/remind', { sessionId, body: 'other', id: 'r' }),
    ).rejects.toMatchObject({ code: -32602, data: { path: 'reminder.id' } })
    const again = await harness.restart()
    const later = await again.editor()
    await later.request('session/prompt', prompt(sessionId, looks))
    expect(shown(later)).toEqual(['two', 'three'])
    await later.request('session/prompt', prompt(sessionId, looks))
    expect(shown(later)).toEqual([])
  })

  it('on an idle session reaches a task that comes over A2A, across a restart', async () => {
    const { harness, editor, sessionId } = await scene()
    await editor.request('_session/remind', { sessionId, body: 'for whoever comes' })
    const again = await harness.restart()
    await expect
      .poll(async () => (await again.store.getValue('acp/waiting-reminders')) as unknown[])
      .toHaveLength(1)
    const taskId = await overA2A(again, sessionId)
    await expect
      .poll(async () => (await again.engine.reminders(anyone, taskId)).map(({ body }) => body))
      .toEqual(['for whoever comes'])
    await expect.poll(() => again.store.getValue('acp/waiting-reminders')).toEqual([])
    const row = await again.store.session('default', 'anonymous', sessionId)
    expect(row?.reminders).toEqual([])
  })

  it('is deleted with its session', async () => {
    const { harness, editor, sessionId } = await scene()
    await editor.request('_session/remind', { sessionId, body: 'x' })
    expect(await harness.store.getValue('acp/waiting-reminders')).toHaveLength(1)
    await editor.request('session/delete', { sessionId })
    expect(await harness.store.getValue('acp/waiting-reminders')).toEqual([])
  })

  it('leaves alone the sessions of other processes that keep reminders', async () => {
    const { harness, editor, sessionId } = await scene()
    const theirs = ['default', 'anonymous', 'session of another process']
    await harness.store.setValue('acp/waiting-reminders', [theirs])
    await editor.request('_session/remind', { sessionId, body: 'x' })
    expect(await harness.store.getValue('acp/waiting-reminders')).toEqual([
      theirs,
      ['default', 'anonymous', sessionId],
    ])
    await editor.request('session/delete', { sessionId })
    expect(await harness.store.getValue('acp/waiting-reminders')).toEqual([theirs])
  })

  it('stays in the list when another process keeps it while the former ones are delivered', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined
    const inner = createMemoryStore()
    const store: Store = {
      ...inner,
      async replaceValue(...given) {
        await meanwhile?.()
        return inner.replaceValue(...given)
      },
    }
    const harness = await openHarness({ store })
    const editor = await harness.editor()
    const sessionId = await newSession(editor)
    await editor.request('_session/remind', { sessionId, body: 'one' })
    meanwhile = async () => {
      meanwhile = undefined
      const session = await inner.session('default', 'anonymous', sessionId)
      if (session !== undefined) {
        await inner.putSession({ ...session, reminders: [{ id: 'r', body: 'two' }] })
      }
    }
    await editor.request('session/prompt', prompt(sessionId, looks))
    expect(shown(editor)).toContain('one')
    expect(await store.getValue('acp/waiting-reminders')).toEqual([
      ['default', 'anonymous', sessionId],
    ])
  })

  it('leaves the list with its session, also when another process has listed it', async () => {
    const { harness, editor, sessionId } = await scene()
    await harness.store.setValue('acp/waiting-reminders', [['default', 'anonymous', sessionId]])
    await editor.request('session/delete', { sessionId })
    expect(await harness.store.getValue('acp/waiting-reminders')).toEqual([])
  })

  it('is refused with the path of the invalid field', async () => {
    const { editor, sessionId } = await scene()
    const remind = (fields: object) => editor.request('_session/remind', { sessionId, ...fields })
    await expect(remind({})).rejects.toMatchObject({ data: { path: 'reminder.body' } })
    await expect(remind({ body: 'x', ttlTurns: 0 })).rejects.toMatchObject({
      code: -32602,
      data: { path: 'reminder.ttlTurns' },
    })
    await expect(remind({ reminder: { body: 'x' }, body: 'y' })).rejects.toMatchObject({
      data: { path: 'body' },
    })
  })

  it('is refused beyond the limit, on an idle session too', async () => {
    const { editor, sessionId } = await scene()
    for (let n = 0; n < 64; n++)
      await editor.request('_session/remind', { sessionId, body: `${n}` })
    await expect(
      editor.request('_session/remind', { sessionId, body: 'one more' }),
    ).rejects.toMatchObject({ code: -32011, data: { reason: 'reminder_limit' } })
  })
})

describe('_session/steering', () => {
  const words = (text: string) => [{ type: 'text', text }]

  it('adds a message to the running turn, and starts a turn when none runs', async () => {
    const { harness, editor, sessionId } = await scene()
    const ops = [{ say: 'at it' }, { step: 'long', ms: 100 }, { turn: [{ echo: 'messages' }] }]
    const turn = editor.begin('session/prompt', prompt(sessionId, ops))
    await expect.poll(() => editor.text()).toBe('at it')
    const injected = await editor.request('_session/steering', { sessionId, prompt: words('left') })
    expect(injected.outcome).toBe('injected')
    await harness.advanceUntil(turn.answer)
    expect(editor.updates('agent_message_chunk').at(-1).content.resource.text).toContain('left')

    const idle = { sessionId, prompt: words('hello') }
    const asked = await editor.request('_session/steering', {
      ...idle,
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    })
    expect(asked).toEqual({ outcome: 'promptRequired' })
    const started = await editor.request('_session/steering', idle)
    expect(started.outcome).toBe('startedNewTurn')
    await expect.poll(() => editor.notifications('_session/turn_ended')).toHaveLength(1)
  })

  it('does not answer a question: a prompt is required', async () => {
    const { editor, sessionId } = await scene()
    await editor.request('session/prompt', prompt(sessionId, [{ ask: '?' }]))
    const answer = await editor.request('_session/steering', { sessionId, prompt: words('x') })
    expect(answer).toEqual({ outcome: 'promptRequired' })
  })
})
