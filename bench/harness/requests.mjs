/** The requests of the HTTP rows, as text, so that the client spends as little as possible on them. */
import { randomUUID } from 'node:crypto'

const text = 'Book the first flight to Helsinki on Friday, window seat.'

/** What the agents of all servers answer. */
export const greeting = 'The first flight on Friday leaves at 07:25, seat 11A is by the window.'

/** Makes one request after the other. A new `messageId` each time: a repeated one would be answered from memory. */
export const bodies = {
  send: () => rpc('SendMessage', `{"message":${messageText()}}`),
  stream: () => rpc('SendStreamingMessage', `{"message":${messageText()}}`),
  get: (ids) => rpc('GetTask', `{"id":"${ids[Math.floor(Math.random() * ids.length)]}"}`),
  list: () => rpc('ListTasks', '{"pageSize":10}'),
  start: () =>
    rpc('SendMessage', `{"message":${messageText()},"configuration":{"returnImmediately":true}}`),
  pause: ([id]) => rpc('tasks/pause', `{"taskId":"${id}","reason":"lunch"}`),
  resume: ([id]) => rpc('tasks/resume', `{"taskId":"${id}"}`),
  subscribe: ([id]) => rpc('SubscribeToTask', `{"id":"${id}"}`),
}

function messageText() {
  return `{"messageId":"${randomUUID()}","role":"ROLE_USER","parts":[{"text":"${text}"}]}`
}

function rpc(method, params) {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
}

export function httpText(port, body, path = '/') {
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `A2A-Version: 1.0\r\nAccept: application/json, text/event-stream\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
