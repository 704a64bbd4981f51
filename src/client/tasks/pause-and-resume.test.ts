/** What is done instead, where the card and the agent do not agree about what is offered. */
import { expect, it } from 'vitest'
import { connect } from '../client.ts'

const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_CANCELED' } }

/** An agent whose card offers everything and that knows no extension. */
function boastful() {
  const called: string[] = []
  const card = {
    name: 'boastful',
    supportedInterfaces: [{ url: '/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {
      extensions: [
        { uri: 'urn:lull:a2a:task-control:1', params: { pause: true } },
        { uri: 'urn:lull:a2a:reminders:1', params: { inject: true } },
      ],
    },
  }
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (url.endsWith('.json')) return new Response(JSON.stringify(card))
    const { method } = JSON.parse(String(init.body))
    called.push(method)
    if (method === 'CancelTask') return new Response(JSON.stringify({ result: task }))
    return new Response(JSON.stringify({ error: { code: -32601, message: 'no such method' } }))
  }
  return { called, client: connect('http://h', { fetch }) }
}

it('believes the answer more than the card', async () => {
  const { called, client: connecting } = boastful()
  const client = await connecting
  expect((await client.capabilities()).pause).toBe(true)
  const paused = await client.pause('t', { fallback: 'cancel' })
  expect(paused).toMatchObject({ outcome: 'cancelled', task: { state: 'canceled' } })
  expect(called).toEqual(['tasks/pause', 'CancelTask'])
  const reminded = await client.remind('t', 'x', { fallback: 'metadata' })
  expect(reminded.outcome).toBe('attached')
  await expect(client.pause('t')).rejects.toMatchObject({ kind: 'unsupported' })
  await expect(client.remind('t', 'x')).rejects.toMatchObject({ kind: 'unsupported' })
})

it('does nothing instead when the agent refuses for another reason', async () => {
  const fetch = async (url: string): Promise<Response> => {
    if (url.endsWith('.json')) {
      const capabilities = { supportsPause: true, reminders: { inject: true } }
      const at = { url: '/', protocolVersion: '0.3.0' }
      return new Response(JSON.stringify({ name: 'a', capabilities, ...at }))
    }
    const data = { reason: 'TASK_TERMINAL', state: 'completed' }
    return new Response(JSON.stringify({ error: { code: -32011, message: 'over', data } }))
  }
  const client = await connect('http://h', { fetch })
  const refused = { kind: 'refused', reason: 'TASK_TERMINAL', details: { state: 'completed' } }
  await expect(client.pause('t', { fallback: 'cancel' })).rejects.toMatchObject(refused)
  await expect(client.remind('t', 'x', { fallback: 'suppress' })).rejects.toMatchObject(refused)
})
