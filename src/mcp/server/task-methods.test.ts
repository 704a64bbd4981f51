/** MCP tasks, driven by the official client for them, in both versions of the specification. */
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  type ToolDeclaration,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../client/client.ts'
import type { Json } from '../../core/values/json.ts'
import type { ScriptOp } from '../../testing/script-agent/ops.ts'
import { serveOn } from './serve-mcp.ts'
import { useScriptServer } from './test-support/script-server.ts'

const serverUrl = useScriptServer()

interface Answer {
  readonly id?: unknown
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
}

/** Requests beside those of the client, because the SDK's client does not speak the methods of 2026-07-28 for tasks. */
function besides(transport: Transport) {
  const waiting = new Map<string, (answer: Answer) => void>()
  let last = 0
  async function request(given: object): Promise<Answer> {
    const id = `beside-${++last}`
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    const message = { ...given, jsonrpc: '2.0', id }
    await transport.send(message as Parameters<Transport['send']>[0])
    return answered
  }
  function listen(): void {
    const { onmessage } = transport
    transport.onmessage = (message, ...extra) => {
      const { id } = message as Answer
      const take = typeof id === 'string' ? waiting.get(id) : undefined
      if (take === undefined) onmessage?.(message, ...extra)
      else take(message as Answer)
    }
  }
  return { request, listen }
}

const clientInfo = { name: 'test', version: '1' }
const asks = { elicitation: { form: {} } }

/** @param said answers of the user, in the order of the questions */
async function open(mode: 'legacy' | 'auto', said: readonly object[] = []) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const lull = createClient({ url: serverUrl() })
  serveOn(lull, ours)
  const capabilities = said.length === 0 ? {} : asks
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode } })
  await client.connect(theirs)
  const { request, listen } = besides(theirs)
  listen()
  const { tools } = await client.listTools()
  const declared: readonly ToolDeclaration[] = tools.map(toolDeclarationFromMcpTool)
  const questions: unknown[] = []
  const session = createTaskSessionFromClient(client, {
    endpointId: 'lull',
    tools: { currentTool: (name) => declared.find((tool) => tool.name === name) },
    onInputRequest: async (question) => {
      questions.push(question.params?.['message'])
      return said[questions.length - 1] as never
    },
    ...(mode === 'legacy'
      ? {}
      : {
          rawDispatch: async (raw) => {
            const { result = null, error } = await request(raw as object)
            return error === undefined ? { kind: 'result', result } : { kind: 'error', error }
          },
          v2RequestFraming: {
            protocolVersion: '2026-07-28',
            clientInfo,
            clientCapabilities: capabilities,
          },
        }),
  })
  const send = (...script: readonly ScriptOp[]) =>
    session.callTool(
      'task_send',
      { message: JSON.stringify({ script }) },
      { task: { preference: 'prefer' } },
    )
  return { client, session, send, questions, request, lull }
}

describe.each(['legacy', 'auto'] as const)('MCP tasks for a client that says %s', (mode) => {
  it('give a handle at once, and the result of the tool when the task has ended', async () => {
    const { send } = await open(mode)
    const call = await send({ step: 'work', ms: 20 }, { complete: 'ready' })
    expect(call.kind).toBe('task')
    const { outcome } = await call.settle()
    expect(outcome).toMatchObject({
      result: { structuredContent: { state: 'completed', message: 'ready' } },
    })
    const failed = await (await send({ fail: 'no disk' })).settle()
    expect(failed.outcome).toMatchObject({
      result: { isError: true, structuredContent: { state: 'failed', message: 'no disk' } },
    })
  })

  it('put questions and consents to the user of the client', async () => {
    const accept = (content: object) => ({ action: 'accept', content })
    const said = [accept({ answer: 'Squash' }), accept({ decision: 'granted' })]
    const { send, questions } = await open(mode, said)
    const call = await send(
      { ask: 'Squash or merge?' },
      { consent: { prompt: 'Push?', operation: { push: 'main' } } },
      { echo: 'messages' },
      { complete: 'done' },
    )
    const { outcome } = await call.settle()
    expect(questions).toEqual(['Squash or merge?', 'Push?\n{"push":"main"}'])
    expect(JSON.stringify(outcome)).toContain('Squash')
    expect(outcome).toMatchObject({ result: { structuredContent: { state: 'completed' } } })
  })

  it('end with the question where the client shows none, and the tools answer it', async () => {
    const { send, client } = await open(mode)
    const call = await send({ ask: 'Well?' }, { complete: 'done' })
    const { outcome } = await call.settle()
    expect(outcome).toMatchObject({
      result: { structuredContent: { state: 'input-required', message: 'Well?' } },
    })
    const taskId = call.handle?.taskId
    const answered = await client.callTool({
      name: 'task_answer',
      arguments: { taskId, text: 'Yes' },
    })
    expect(answered.structuredContent).toMatchObject({ state: 'completed' })
  })

  it('are cancelled, and are found again by another connection', async () => {
    const { send } = await open(mode)
    const call = await send({ park: { reason: 'waiting for ci' } })
    const taskId = call.handle?.taskId
    if (taskId === undefined) throw new Error('no handle')
    await call.detach()
    const { session, lull } = await open(mode)
    const task = session.task(taskId)
    await lull.waitFor(taskId, 'paused-by-agent')
    expect(await task.snapshot()).toMatchObject({
      status: 'working',
      statusMessage: 'waiting for ci',
    })
    await task.cancel()
    expect(await task.snapshot()).toMatchObject({ status: 'cancelled' })
    expect((await lull.get(taskId)).state).toBe('canceled')
  })
})

describe('MCP tasks', () => {
  it('are not given to a client of 2026-07-28 that does not declare them, nor shown to it', async () => {
    const { client, request } = await open('auto')
    const done = await client.callTool({
      name: 'task_send',
      arguments: { message: JSON.stringify({ script: [{ complete: 'ready' }] }) },
    })
    expect(done.structuredContent).toMatchObject({ state: 'completed' })
    const { taskId } = done.structuredContent as { taskId: string }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await request({ method, params: { taskId, inputResponses: {}, _meta } })
      expect(error?.code).toBe(-32021)
    }
  })

  it('say that a task is not found, and that a tool does not start one', async () => {
    const { request } = await open('legacy')
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const { error } = await request({ method, params: { taskId: 'none' } })
      expect(error).toMatchObject({ code: -32602, message: 'Task not found' })
    }
    const params = { name: 'task_get', arguments: { taskId: 'none' }, task: {} }
    expect((await request({ method: 'tools/call', params })).error?.code).toBe(-32601)
  })

  it('wait no longer for the user of the client when the question was answered elsewhere', async () => {
    const { client, lull } = await open('legacy', [{}])
    const asked = new Promise<void>((resolve) => {
      client.setRequestHandler('elicitation/create', async (_, { mcpReq }) => {
        resolve()
        await new Promise((_, reject) => mcpReq.signal.addEventListener('abort', reject))
        return { action: 'cancel' }
      })
    })
    const sent = await lull.send(JSON.stringify({ script: [{ ask: 'Well?' }, { complete: 'x' }] }))
    if (sent.kind !== 'task') throw new Error('no task')
    const taskId = sent.task.id
    const request = { method: 'tasks/result', params: { taskId } }
    const result = client.request(request, z.looseObject({}))
    await asked
    await lull.answer(taskId, 'Yes', { returnImmediately: true })
    expect(await result).toMatchObject({
      structuredContent: { state: 'completed' },
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    })
  })
})
