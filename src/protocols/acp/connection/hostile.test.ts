/** Whatever arrives: every request has one answer, nothing of ours leaks, and the connection goes on. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acpSchemas } from '../catalog.ts'
import { inbound } from '../names.ts'
import type { Loose } from '../test-support/editor.ts'
import { anyone, newSession, openHarness, prompt } from '../test-support/harness.ts'

const known = [-32700, -32600, -32601, -32602, -32603, -32002, -32011, -32012, -32800]

const methods = [
  'initialize',
  'session/new',
  'session/load',
  'session/resume',
  'session/list',
  'session/close',
  'session/prompt',
  'session/set_config_option',
  'session/set_mode',
  'authenticate',
  ...Object.values(inbound).flat(),
  '_session/nothing',
  '',
]

const fields = [
  'sessionId',
  'cwd',
  'mcpServers',
  'prompt',
  'handle',
  'input',
  'continueTranscript',
  'reason',
  'mode',
  'resumeWhen',
  'body',
  'reminder',
  'tags',
  'ttlTurns',
  'configId',
  'value',
  'cursor',
  '_meta',
  'protocolVersion',
  '__proto__',
  'constructor',
]

/** A request that might have been meant, with anything in it. */
const requests = (sessionId: string) =>
  fc.record({
    method: fc.constantFrom(...methods),
    params: fc.oneof(
      { weight: 1, arbitrary: fc.jsonValue() },
      {
        weight: 5,
        arbitrary: fc.dictionary(
          fc.constantFrom(...fields),
          fc.oneof(
            fc.jsonValue({ maxDepth: 2 }),
            fc.constantFrom(
              sessionId,
              'nope',
              [],
              [{ type: 'text', text: 'x' }],
              [{ type: 'text', text: '/resume' }],
              [{ type: 'image', data: '!', mimeType: 'image/png' }],
              {
                lull: { taskId: 'x', suspend: { op: 'wake' } },
                harn: { suspend: { op: 'suspend' } },
              },
              { onEvent: 'x' },
              'interrupt_immediate',
              'run_state',
              'running-0.0',
            ),
          ),
        ),
      },
    ),
  })

/** Says which request it was, where the test would only say that time is up. */
function unanswered(request: string): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no answer to ${request}`)), 5_000).unref()
  })
}

describe('hostile input', () => {
  const initialize = {
    1: { protocolVersion: 1, clientCapabilities: { _meta: { lull: {} } } },
    2: {
      protocolVersion: 2,
      info: { name: 'x', version: '1' },
      capabilities: { _meta: { lull: {} } },
    },
  } as const

  it.each([1, 2] as const)(
    'in version %i always has one answer with a code we know, and the connection goes on',
    async (version) => {
      await fc.assert(
        fc.asyncProperty(fc.gen(), async (gen) => {
          const harness = await openHarness()
          const editor = harness.connect()
          await editor.request('initialize', initialize[version])
          const sessionId = await newSession(editor)
          await editor.request('session/prompt', prompt(sessionId, [{ park: { reason: 'x' } }]))
          const sent = gen(fc.array, requests(sessionId), { minLength: 1, maxLength: 8 })
          for (const { method, params } of sent) {
            const answer = await Promise.race([
              editor.request(method, params).catch((error: Loose) => ({ error })),
              unanswered(JSON.stringify({ method, params })),
            ])
            if (answer?.error === undefined) continue
            const { code, message, data } = answer.error
            expect(known, JSON.stringify({ method, params, message })).toContain(code)
            if (code === -32603) expect(data?.reason, message).toBeDefined()
            // What the SDK itself refuses is explained in a way of its own: a text, or a tree of mistakes.
            const isOurs = typeof data === 'object' && data !== null && data._errors === undefined
            if (isOurs) acpSchemas['ErrorData']?.parse(data)
            expect(JSON.stringify({ message, data })).not.toMatch(/\.ts:|node_modules|at Object\./)
          }
          expect((await editor.request('session/list', {})).sessions.length).toBeGreaterThan(0)
          expect(harness.log.filter((line) => line.includes('an ACP request failed'))).toEqual([])
        }),
        { numRuns: 60, endOnFailure: true },
      )
    },
  )

  it.each([
    ['an array', []],
    ['a number', 7],
    ['no version', { id: 1, method: 'session/list' }],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'session/list' }]],
    ['an answer to nothing', { jsonrpc: '2.0', id: 99, result: {} }],
    ['an answer that is none', { jsonrpc: '2.0', id: 99 }],
    ['a notification nobody knows', { jsonrpc: '2.0', method: '_x/y', params: {} }],
    [
      'a cancel of nothing',
      { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 4 } },
    ],
    ['a cancel without a session', { jsonrpc: '2.0', method: 'session/cancel', params: {} }],
  ])('%s does no harm', async (_, message) => {
    const harness = await openHarness()
    const editor = await harness.editor()
    await editor.send(message)
    expect(await editor.request('session/list', {})).toEqual({ sessions: [] })
  })

  it('before initialize is refused, and a later initialize works', async () => {
    const editor = (await openHarness()).connect()
    await expect(editor.request('session/list', {})).rejects.toMatchObject({ code: -32600 })
    await expect(editor.request('_session/suspend', { sessionId: 'x' })).rejects.toMatchObject({
      code: -32600,
    })
    expect((await editor.request('initialize', { protocolVersion: 1 })).protocolVersion).toBe(1)
  })

  it.each([
    ['session/new', { cwd: 'relative', mcpServers: [] }, 'cwd'],
    ['session/new', { cwd: '/', mcpServers: [7] }, 'mcpServers.0'],
    ['session/load', { cwd: '/' }, 'mcpServers'],
    ['session/list', { cursor: 7 }, 'cursor'],
    ['session/close', { sessionId: {} }, 'sessionId'],
    ['session/set_config_option', { configId: 'run_state' }, 'value'],
    ['session/prompt', {}, 'prompt'],
    ['session/prompt', { prompt: [] }, 'prompt'],
    ['session/prompt', { prompt: [{ type: 'text', text: ' ' }] }, 'prompt'],
    [
      'session/prompt',
      { prompt: [{ type: 'image', data: '!', mimeType: 'image/png' }] },
      'prompt.0.data',
    ],
    ['_session/steering', { prompt: [{ type: 'video' }] }, 'prompt.0.type'],
    ['_session/wake', { handle: 7 }, 'handle'],
    ['session/resume', { continueTranscript: 'yes' }, 'continueTranscript'],
  ])('%s %j is refused with its place', async (method, params, path) => {
    const editor = await (await openHarness()).editor()
    const sessionId = await newSession(editor)
    await expect(editor.request(method, { sessionId, ...params })).rejects.toMatchObject({
      code: -32602,
      data: { path },
    })
  })
})

describe('a disconnect', () => {
  const story = [
    { say: 'a' },
    { step: 's', ms: 0 },
    { ask: '?' },
    { park: { reason: 'p' } },
    { consent: { prompt: 'ok?', operation: 1 } },
    { complete: 'z' },
  ]

  it('at any moment only detaches: another client brings every task to its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(25), fc.boolean(), async (after, suspends) => {
        const harness = await openHarness()
        const editor = await harness.editor()
        const sessionId = await newSession(editor)
        editor.begin('session/prompt', prompt(sessionId, story))
        if (suspends) editor.begin('_session/suspend', { sessionId })
        // So many messages later it is gone.
        const start = editor.received.length
        await expect
          .poll(
            () => editor.received.length - start >= after || editor.updates('tool_call').length > 0,
          )
          .toBe(true)
          .catch(() => undefined)
        await editor.close()

        const other = await harness.editor({ elicitation: { form: {} } })
        other.on('elicitation/create', () => ({ action: 'accept', content: { answer: 'y' } }))
        other.on('session/request_permission', () => ({
          outcome: { outcome: 'selected', optionId: 'allow' },
        }))
        await other.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
        const state = async () => {
          const { _meta } = await other.request('session/resume', { sessionId, cwd: '/' })
          if (_meta.lull.suspend?.state === 'suspended') {
            await other.request('_session/wake', { sessionId }).catch(() => undefined)
          }
          return _meta.lull.tasks.length
        }
        await expect.poll(state).toBe(0)
        // Gone so early that nothing was begun: then there is nothing to end.
        const { total } = await harness.engine.list(anyone, { contextId: sessionId })
        if (total > 0) await expect.poll(() => other.text()).toMatch(/z$/)
      }),
      { numRuns: 12 },
    )
  })
})
