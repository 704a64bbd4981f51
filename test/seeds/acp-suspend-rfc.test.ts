/** Every type of the session/suspend RFC, on the wire of a real server, to a client that declares the RFC. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createEditor, type Editor } from '../../src/protocols/acp/test-support/editor.ts'
import { scriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'
import { interfacesOf } from './interfaces.ts'

const fixture = 'acp-suspend-rfc.txt'
const rfc = interfacesOf(fixture)
const checked = new Set<string>()

/** It has the fields of the document, each of its type, and no others but these. */
function fits(name: string, value: unknown, more?: readonly string[]): void {
  checked.add(name)
  expect(rfc.problems(name, value, more), JSON.stringify(value)).toEqual([])
}

async function connect(harness: Harness): Promise<Editor & { readonly capabilities: Loose }> {
  const socket = new WebSocket(`${harness.url.replace('http', 'ws')}/acp`)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const readable = new ReadableStream<Loose>({
    start(controller) {
      socket.on('message', (message) => controller.enqueue(JSON.parse(String(message))))
    },
  })
  const writable = new WritableStream<Loose>({
    write: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
  })
  const editor = createEditor({ readable, writable })
  const clientCapabilities = { _meta: { lull: { rfc: true } } }
  const { agentCapabilities } = await editor.request('initialize', {
    protocolVersion: 1,
    clientCapabilities,
  })
  return { ...editor, capabilities: agentCapabilities }
}

async function opened(harness: Harness, ...ops: readonly object[]) {
  const editor = await connect(harness)
  const { sessionId } = await editor.request('session/new', { cwd: '/', mcpServers: [] })
  const prompt = [{ type: 'text', text: JSON.stringify({ script: ops }) }]
  const turn = editor.begin('session/prompt', { sessionId, prompt })
  return { editor, sessionId, turn }
}

const conditions = {
  onEvent: 'file.changed:src/lib.rs',
  trigger: { filter: { exact: { type: 'ci.done' } } },
  timeout: { durationMinutes: 30, onTimeout: 'resume_with_input' },
}

describe('the types of the RFC', () => {
  it('AgentCapabilities are declared during initialize', async () => {
    await using harness = await openHarness({ agents: [scriptAgent] })
    const { capabilities } = await connect(harness)
    const declared = rfc.fields('AgentCapabilities').map(({ name }) => name)
    fits(
      'AgentCapabilities',
      Object.fromEntries(declared.map((name) => [name, capabilities[name]])),
    )
    expect(capabilities).toMatchObject({ supportsSuspend: true, supportsAwaitResumption: true })
  })

  it('SessionSuspendRequest is taken whole, and answered by a SessionSuspendResponse', async () => {
    await using harness = await openHarness({ agents: [scriptAgent] })
    const { editor, sessionId, turn } = await opened(
      harness,
      { say: 'x' },
      { step: 's', ms: 60_000 },
    )
    await expect.poll(() => editor.text()).toBe('x')
    const mode = 'interrupt_immediate'
    const request = { sessionId, reason: 'review', resumeWhen: conditions, mode, _meta: { a: 1 } }
    expect(Object.keys(request).sort()).toEqual(
      rfc
        .fields('SessionSuspendRequest')
        .map(({ name }) => name)
        .sort(),
    )
    fits('SessionSuspendRequest', request)
    fits('ResumeConditions', request.resumeWhen)
    fits('ResumeTimeoutSpec', request.resumeWhen.timeout)
    const response = await editor.request('session/suspend', request)
    fits('SessionSuspendResponse', response)
    expect(response).toMatchObject({ reason: 'review', resumeWhen: conditions })
    expect(new Date(response.suspendedAt).toISOString()).toBe(response.suspendedAt)
    expect(await turn.answer).toMatchObject({ stopReason: 'end_turn' })

    const [suspended] = editor.updates('suspended')
    fits('SessionUpdate_Suspended', suspended)
    expect(suspended).toMatchObject({
      handle: response.handle,
      reason: 'review',
      initiator: 'client',
      suspendedAt: response.suspendedAt,
      resumeWhen: conditions,
    })
    await editor.close()
  })

  it('SessionAwaitResumptionRequest is sent, and its response taken for what it says', async () => {
    await using harness = await openHarness({ agents: [scriptAgent] })
    const park = { park: { reason: 'ci', summary: 'Waiting for CI', conditions } }
    const { editor, sessionId, turn } = await opened(harness, { say: '' }, park, { echo: 'wake' })
    const asked = new Promise<Loose>((resolve) => {
      editor.on('session/await_resumption', (params) => {
        resolve(params)
        const response = { handle: 'theirs', suspendedAt: new Date().toISOString() }
        fits('SessionAwaitResumptionResponse', response)
        return response
      })
    })
    await turn.answer
    const request = await asked
    // Ours: what is durable cannot wait for an answer, so the handle goes with the question.
    fits('SessionAwaitResumptionRequest', request, ['handle', 'epoch', 'deadlineAt'])
    expect(request).toMatchObject({
      sessionId,
      reason: 'ci',
      conditions,
      summary: 'Waiting for CI',
    })

    const resume = { sessionId, input: { go: 1 }, continueTranscript: false, _meta: {} }
    fits('SessionResumeRequest', resume)
    expect(Object.keys(resume).sort()).toEqual(
      rfc
        .fields('SessionResumeRequest')
        .map(({ name }) => name)
        .sort(),
    )
    await expect
      .poll(() =>
        editor.request('session/resume', { ...resume, handle: 'theirs' }).then(
          () => 'resumed',
          ({ data }: Loose) => data.reason,
        ),
      )
      .toBe('resumed')
    const [resumed] = editor.updates('resumed')
    fits('SessionUpdate_Resumed', resumed)
    expect(resumed).toMatchObject({
      handle: request.handle,
      cause: 'explicit_resume',
      hadResumeInput: true,
      continueTranscript: false,
    })
    await editor.close()
  })

  it('each has been checked', () => {
    expect([...checked].sort()).toEqual([...rfc.names].sort())
  })
})

describe('WorkerSuspension', () => {
  const rust = readFileSync(new URL(`fixtures/${fixture}`, import.meta.url), 'utf8')
  const struct = (name: string): readonly string[] => {
    const body = new RegExp(`pub struct ${name} \\{([\\s\\S]*?)\\n\\}`).exec(rust)?.[1] ?? ''
    return [...body.matchAll(/pub (\w+):/g)].map(([, field = '']) => field)
  }

  it('is the envelope under _meta.harn.suspend, field for field', async () => {
    await using harness = await openHarness({ agents: [scriptAgent] })
    const { editor, turn } = await opened(harness, { park: { reason: 'ci', conditions } })
    const { _meta } = await turn.answer
    const { state, ...envelope } = _meta.harn.suspend
    expect(state).toBe('suspended')
    expect(Object.keys(envelope).sort()).toEqual([...struct('WorkerSuspension')].sort())
    expect(Object.keys(envelope.resume_when).sort()).toEqual([...struct('ResumeConditions')].sort())
    expect(Object.keys(envelope.resume_when.timeout).sort()).toEqual(
      [...struct('ResumeTimeoutSpec')].sort(),
    )
    expect(envelope).toMatchObject({ reason: 'ci', initiator: 'agent' })
    expect(Number.isInteger(envelope.suspended_at_ms)).toBe(true)
    await editor.close()
  })
})
