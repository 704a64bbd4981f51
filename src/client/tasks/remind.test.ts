import { expect, it } from 'vitest'
import { createClient } from '../client.ts'
import { attachReminder, createAttachedReminders } from './remind.ts'

it('keeps them in order, one for each message, and a newer one of a key in place of the older', () => {
  const attached = createAttachedReminders()
  expect(attached.add('t', { id: 'a', body: 'a', dedupeKey: 'k' })).toEqual({ id: 'a', ahead: 0 })
  expect(attached.add('t', { id: 'b', body: 'b' }).ahead).toBe(1)
  expect(attached.add('t', { id: 'c', body: 'c', dedupeKey: 'k' }).ahead).toBe(1)
  attached.add('other', { id: 'x', body: 'x' })
  const taken = ['t', 't', 't'].map((taskId) => attached.take(taskId)?.id)
  expect(taken).toEqual(['b', 'c', undefined])
  expect(attached.take(undefined)).toBeUndefined()
})

it('writes it as the RFC does, beside what was there', () => {
  const reminder = { id: 'r', body: 'b', dedupeKey: 'k', ttlTurns: 2, roleHint: 'system' } as const
  expect(attachReminder({ a: 1, harn: { x: 1 } }, reminder)).toEqual({
    a: 1,
    harn: {
      x: 1,
      reminder: { id: 'r', body: 'b', dedupe_key: 'k', ttl_turns: 2, role_hint: 'system' },
    },
  })
})

it('does not lose a reminder with the message that failed to carry it', async () => {
  const bodies: unknown[] = []
  let up = false
  const card = JSON.stringify({ name: 'a', capabilities: {} })
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (url.endsWith('.json')) return new Response(card)
    if (!up) throw new TypeError('fetch failed')
    bodies.push(JSON.parse(String(init.body)).params.metadata)
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] }
    return new Response(JSON.stringify({ result: { message } }))
  }
  const client = createClient({ url: 'http://h', fetch })
  const outcome = await client.remind('t', { id: 'r', body: 'b' }, { fallback: 'metadata' })
  expect(outcome).toEqual({ outcome: 'attached', reminderId: 'r', ahead: 0 })
  await expect(client.send('x', { taskId: 't' })).rejects.toMatchObject({ reason: 'UNREACHABLE' })
  up = true
  expect((await client.send('x', { taskId: 't' })).reminderIds).toEqual(['r'])
  expect((await client.send('x', { taskId: 't' })).reminderIds).toEqual([])
  expect(bodies).toEqual([{ harn: { reminder: { id: 'r', body: 'b' } } }, undefined])
})
