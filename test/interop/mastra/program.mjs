/**
 * Mastra's A2A clients, unmodified, in a process of their own because they need Node 22. Does what its parent tells it, one
 * order at a time, and answers with what an application would see:
 *
 *   { id, order: 'generate', client, url, version, … }  →  { id, answer } or { id, failure }
 *
 * A call that reads a stream sends { id, began: true } with the stream's first frame.
 *
 * There are two clients. `A2AAgent` (@mastra/core) is for agents of other people and finds them by their card.
 * `MastraClient` (@mastra/client-js) is for servers of Mastra: it posts to `/api/a2a/{agent}` of its base URL. Its `fetch`
 * option, which is there for applications, leads those two paths to the card and to the address that the card names.
 */
import { MastraClient } from '@mastra/client-js'
import { A2AAgent } from '@mastra/core/a2a'
import { SendMessageRequest, SendMessageResponse, StreamResponse, Task } from '@mastra/core/a2a/v1'

const agents = new Map()

/** The same agent for the same words: it keeps its runs in memory. */
function agentOf({ url, version }) {
  const key = `${url} ${version}`
  const known = agents.get(key) ?? new A2AAgent({ url, protocolVersion: version })
  agents.set(key, known)
  return known
}

const seen = ({ text, task, finishReason, suspendPayload }) => ({
  text,
  state: task?.status.state,
  taskId: task?.id,
  finishReason,
  waitingForInput: suspendPayload?.waitingForInput,
})

async function readStream(stream) {
  const deltas = []
  const types = []
  for await (const chunk of stream.fullStream) {
    types.push(chunk.type)
    if (chunk.type === 'text-delta') deltas.push(chunk.payload.text)
  }
  return { ...seen(await stream.getResult()), types, deltas }
}

function clientOf({ url, version }) {
  const route = async (given, init) => {
    const path = new URL(given).pathname
    const cardUrl = `${url}/.well-known/agent-card.json`
    if (path === '/api/.well-known/lull/agent-card.json') return fetch(cardUrl, init)
    const card = await (await fetch(cardUrl, { headers: { 'A2A-Version': version } })).json()
    const place = card.supportedInterfaces?.find(
      (one) => one.protocolBinding === 'JSONRPC' && one.protocolVersion === version,
    )
    return fetch(version === '0.3' ? card.url : place.url, init)
  }
  const client = new MastraClient({ baseUrl: url, fetch: route, retries: 0 })
  return version === '0.3' ? client.getA2A('lull') : client.getA2AV1('lull')
}

/** In 1.0 its calls take and give objects of the official SDK; orders and answers are their JSON. */
const forms = {
  0.3: { request: (json) => json, sent: (json) => json.result, task: (json) => json.result },
  '1.0': {
    request: (json) => SendMessageRequest.fromJSON(json),
    sent: (value) => SendMessageResponse.toJSON(value),
    task: (value) => Task.toJSON(value),
  },
}

async function collect({ version, began }, events) {
  const all = []
  for await (const event of events) {
    if (all.length === 0) began()
    all.push(version === '0.3' ? event : StreamResponse.toJSON(event))
  }
  return all
}

const orders = {
  card: async (order) => {
    const client = order.client === 'MastraClient' ? clientOf(order) : agentOf(order)
    return await client.getAgentCard()
  },
  generate: async (order) =>
    seen(await agentOf(order).generate(order.prompt, { runId: order.runId })),
  resumeGenerate: async (order) =>
    seen(await agentOf(order).resumeGenerate(order.data, { runId: order.runId })),
  stream: async (order) =>
    readStream(await agentOf(order).stream(order.prompt, { runId: order.runId })),
  resumeStream: async (order) =>
    readStream(await agentOf(order).resumeStream(order.data, { runId: order.runId })),
  sendMessage: async (order) => {
    const { request, sent } = forms[order.version]
    return sent(await clientOf(order).sendMessage(request(order.params)))
  },
  getTask: async (order) =>
    forms[order.version].task(await clientOf(order).getTask({ id: order.taskId })),
  cancelTask: async (order) =>
    forms[order.version].task(await clientOf(order).cancelTask({ id: order.taskId })),
  sendMessageStream: (order) => {
    const { request } = forms[order.version]
    return collect(order, clientOf(order).sendMessageStream(request(order.params)))
  },
  resubscribeTask: (order) => collect(order, clientOf(order).resubscribeTask({ id: order.taskId })),
}

process.on('message', async ({ id, order, ...rest }) => {
  try {
    const began = () => process.send({ id, began: true })
    process.send({ id, answer: await orders[order]({ ...rest, began }) })
  } catch (error) {
    process.send({ id, failure: `${error?.name}: ${error?.message}` })
  }
})
process.once('disconnect', () => process.exit(0))
process.send({ ready: process.versions.node })
