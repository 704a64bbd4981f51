/** What ends work and what does not, in the words ACP has for it: `session/cancel`, `$/cancel_request`, `session/close`. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Any } from './generations.ts'
import {
  allow,
  type Connected,
  type Harness,
  openHarness,
  quiescing,
  said,
  script,
} from './harness.ts'

let harness: Harness
let client: Connected
let sessionId: string
/** Requests for a permission: answered by the test, or never. */
let asked: { params: Any; signal: AbortSignal; answer(value: Any): void }[]
beforeEach(async () => {
  harness = openHarness()
  asked = []
  client = harness.connect('2.4.0', {
    permission: (params, signal = AbortSignal.abort()) =>
      new Promise((answer, reject) => {
        asked.push({ params, signal, answer })
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  await harness.initialize(client)
  sessionId = await harness.open(client)
})
afterEach(() => harness.close())

const long = [{ step: 'long', ms: 1 }, { step: 'after' }, { complete: 'Done.' }]
const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }
const prompt = (ops: readonly object[], signal?: AbortSignal): Promise<Any> =>
  client.request('session/prompt', { sessionId, prompt: script(...ops) }, signal)
const suspend = (signal?: AbortSignal): Promise<Any> =>
  client.request('_session/suspend', { sessionId }, signal)

/** A prompt whose task is suspended after its first step. */
async function suspended(): Promise<{ readonly handle: string }> {
  const prompted = prompt(long)
  await harness.began('long')
  const suspending = suspend()
  await quiescing(client)
  harness.openGate(1)
  const { handle } = await suspending
  await prompted
  return { handle }
}

/** It goes on as if nothing had been, and what was ended did not. */
async function expectIdle(): Promise<void> {
  expect(await prompt([{ complete: 'Next.' }])).toMatchObject({ stopReason: 'end_turn' })
  expect(said(client)).toEqual(['Next.'])
  expect(harness.ended('after')).toBe(0)
}

describe('session/cancel', () => {
  it('ends a prompt that waits for a permission, and withdraws that', async () => {
    const prompted = prompt([consent, { complete: 'Deleted.' }])
    await expect.poll(() => asked).toHaveLength(1)
    await client.notify('session/cancel', { sessionId })
    expect(await prompted).toMatchObject({ stopReason: 'cancelled' })
    await expect.poll(() => asked[0]?.signal.aborted).toBe(true)
    await expectIdle()
  })

  it('ends a task that is suspended', async () => {
    const { handle } = await suspended()
    await client.notify('session/cancel', { sessionId })
    await expectIdle()
    const woken = client.request('_session/wake', { sessionId, handle })
    await expect(woken).rejects.toMatchObject({ code: -32011 })
  })
})

describe('$/cancel_request', () => {
  it('of a prompt cancels its task', async () => {
    const gaveUp = new AbortController()
    const prompted = prompt(long, gaveUp.signal)
    await harness.began('long')
    gaveUp.abort()
    expect(await prompted).toMatchObject({ stopReason: 'cancelled' })
    await expectIdle()
  })

  it('of a suspend takes that back, and the task goes on', async () => {
    const prompted = prompt(long)
    await harness.began('long')
    const gaveUp = new AbortController()
    const suspending = suspend(gaveUp.signal)
    await quiescing(client)
    gaveUp.abort()
    await expect(suspending).rejects.toMatchObject({ code: -32800 })
    harness.openGate(1)
    expect(await prompted).toMatchObject({ stopReason: 'end_turn' })
    expect(said(client)).toEqual(['Done.'])
  })
})

describe('session/close', () => {
  it('ends what runs and what is suspended', async () => {
    await suspended()
    await client.request('session/close', { sessionId })
    await expectIdle()
    const prompted = prompt([{ step: 'other', ms: 2 }, { complete: 'Not reached.' }])
    await harness.began('other')
    await client.request('session/close', { sessionId })
    expect(await prompted).toMatchObject({ stopReason: 'cancelled' })
  })
})

describe('a suspend while a permission is asked for', () => {
  it('is refused, and the permission stays as it was', async () => {
    const prompted = prompt([consent, { complete: 'Deleted.' }])
    await expect.poll(() => asked).toHaveLength(1)
    await expect(suspend()).rejects.toMatchObject({ code: -32011, data: { reason: 'not_running' } })
    expect(asked[0]?.signal.aborted).toBe(false)
    asked[0]?.answer(allow(asked[0].params))
    expect(await prompted).toMatchObject({ stopReason: 'end_turn' })
    expect(said(client)).toEqual(['Deleted.'])
  })
})
