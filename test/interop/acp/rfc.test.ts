/**
 * The session/suspend RFC to the letter, for a client that declares it: bare names, its fields and nothing else. The SDK
 * is the client; it drops the RFC's updates, so they are looked for in what was recorded.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Any } from './generations.ts'
import { type Connected, type Harness, openHarness, quiescing, said, script } from './harness.ts'

let harness: Harness
let client: Connected
let sessionId: string
/** Requests of the agent, by method. */
let asked: [string, Any][]
beforeEach(async () => {
  harness = openHarness()
  // The SDK says of each update it drops that it does.
  harness.tolerate('session/update')
  asked = []
  const note = (method: string) => (params: Any) => {
    asked.push([method, params])
    return { handle: `client-${method}`, suspendedAt: new Date().toISOString() }
  }
  const methods = ['session/await_resumption', '_session/await_resumption']
  const others = Object.fromEntries(methods.map((method) => [method, note(method)]))
  client = harness.connect('2.4.0', { others })
})
afterEach(() => harness.close())

async function open(): Promise<Any> {
  const { agentCapabilities } = await harness.initialize(client, { _meta: { lull: { rfc: true } } })
  sessionId = await harness.open(client)
  return agentCapabilities
}
const prompt = (...ops: readonly object[]): Promise<Any> =>
  client.request('session/prompt', { sessionId, prompt: script(...ops) })
/** The RFC's own updates, as they were sent. */
const updates = (): readonly Any[] =>
  harness
    .messages()
    .map(({ params }) => params?.update)
    .filter((update) => /^(suspended|resumed)$/.test(update?.sessionUpdate))

const steps = [{ step: 'one', ms: 1 }, { step: 'two' }]
const resumeWhen = {
  onEvent: 'file.changed:src/lib.rs',
  trigger: { filter: { exact: { type: 'ci.done' } } },
  timeout: { durationMinutes: 90, onTimeout: 'resume_with_summary' },
}

describe('a client that declares the RFC', () => {
  it('is told what the agent can, in its words', async () => {
    expect(await open()).toMatchObject({
      supportsSuspend: true,
      supportsAwaitResumption: true,
      resumeCauses: ['explicit_resume', 'condition_fired', 'timeout', 'external_event'],
    })
  })

  it('suspends by session/suspend and resumes by session/resume, with input, without transcript', async () => {
    await open()
    const prompted = prompt(...steps, { echo: 'wake' }, { complete: 'Done.' })
    await harness.began('one')
    const request = { sessionId, reason: 'review', resumeWhen, mode: 'finish_step', _meta: {} }
    const suspending = client.request('session/suspend', request)
    await quiescing(client)
    harness.openGate(1)
    const suspended = await suspending
    const { handle, suspendedAt } = suspended
    expect(suspended).toMatchObject({ reason: 'review', resumeWhen })
    expect(Date.parse(suspendedAt)).toBeGreaterThan(0)
    await prompted
    expect(updates()).toMatchObject([
      {
        sessionUpdate: 'suspended',
        handle,
        reason: 'review',
        initiator: 'client',
        suspendedAt,
        resumeWhen,
      },
    ])
    await client.request('session/resume', {
      sessionId,
      input: { answer: 42 },
      continueTranscript: false,
    })
    await expect.poll(() => said(client)).toContain('Done.')
    expect(harness.ended('two')).toBe(1)
    expect(updates()[1]).toEqual({
      sessionUpdate: 'resumed',
      handle,
      cause: 'explicit_resume',
      hadResumeInput: true,
      continueTranscript: false,
      resumedAt: expect.any(String),
      _meta: expect.any(Object),
    })
    expect(JSON.stringify(client.updates)).toContain('42')
  })

  it('is asked to await a resumption, and its handle is as good as ours', async () => {
    await open()
    const reason = 'CI is running'
    const summary = 'Waiting for the build'
    await prompt({ park: { reason, summary, conditions: resumeWhen } }, { complete: 'Shipped.' })
    await expect.poll(() => asked).toHaveLength(2)
    const [, params] = asked.find(([method]) => method === 'session/await_resumption')!
    expect(params).toMatchObject({ sessionId, reason, conditions: resumeWhen, summary })
    expect(updates()).toMatchObject([{ sessionUpdate: 'suspended', initiator: 'agent', reason }])
    const handle = 'client-session/await_resumption'
    const wake = () => client.request('session/resume', { sessionId, handle })
    // The answer is kept, which may take a moment longer than sending it.
    await expect
      .poll(() =>
        wake().then(
          () => 'woken',
          ({ data }) => data.reason,
        ),
      )
      .toBe('woken')
    await expect.poll(() => said(client)).toEqual(['Shipped.'])
  })
})
