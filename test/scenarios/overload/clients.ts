/** Clients of an overloaded server: senders, and clients that read or write too slowly. */
import { randomUUID } from 'node:crypto'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'

const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }

export interface Sent {
  /** What happened to the message. `broken`: the connection ended without an answer. */
  readonly outcome: 'accepted' | 'refused' | 'broken'
  readonly taskId?: string
  /** Which limit refused it. */
  readonly limit?: string
}

/** On a connection of its own. The server may close one that was idle for seconds just when a client uses it again. */
export function ask(url: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (answer) => {
      const done = (body: string): void => resolve({ status: answer.statusCode ?? 0, text: body })
      text(answer).then(done, reject)
    })
    request.on('error', reject)
  })
}

/** Every refusal must say which limit was reached, and when to come back. */
export async function send(url: string, content: string, immediate: boolean): Promise<Sent> {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: content }] }
  const configuration = { returnImmediately: immediate, historyLength: 0 }
  const body = JSON.stringify({ message, configuration })
  const answer = await fetch(`${url}/message:send`, { method: 'POST', headers, body }).catch(
    () => undefined,
  )
  if (answer === undefined) return { outcome: 'broken' }
  const { task, error } = (await answer.json()) as {
    task?: { id: string }
    error?: { message: string }
  }
  if (task !== undefined) return { outcome: 'accepted', taskId: task.id }
  expect([429, 503]).toContain(answer.status)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(error?.message).toMatch(/limit/i)
  return { outcome: 'refused', limit: error?.message ?? '' }
}

/** Clients that read nothing of a large answer or a stream, and clients that never finish their request. */
export function slowClients(port: number, taskId: string, count: number): readonly Socket[] {
  const read = `GET /tasks/${taskId} HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\n\r\n`
  const follow = read.replace('GET /tasks', 'POST /tasks').replace(' HTTP', ':subscribe HTTP')
  const half = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(8_000_000)}`
  const kinds = [read, follow, half, half.slice(0, 60)]
  return Array.from({ length: count }, (_, n) => deaf(port, kinds[n % kinds.length] ?? read))
}

/** Sends bytes and never reads. */
function deaf(port: number, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  socket.on('error', () => undefined)
  socket.pause()
  return socket
}
