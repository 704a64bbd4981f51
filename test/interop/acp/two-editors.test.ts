/** Two editors on one data directory: the second one's agent attaches to the first one's, and takes over when that is killed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
beforeEach(() => {
  harness = openHarness()
})
afterEach(() => harness.close())

describe('two editors on one data directory', () => {
  it('share its tasks, and what one leaves behind the next one finds', async () => {
    const asked: string[] = []
    const arrive = async (name: string): Promise<Connected> => {
      const editor = harness.connect('2.4.0', {
        permission: (params) => {
          asked.push(name)
          return name === 'second' ? allow(params) : new Promise(() => undefined)
        },
      })
      await harness.initialize(editor)
      return editor
    }
    const first = await arrive('first')
    const sessionId = await harness.open(first)
    const attach = { sessionId, cwd: harness.cwd, mcpServers: [] }
    const consent = { consent: { prompt: 'Delete it?', operation: { delete: 'a' } } }
    const ops = [consent, { step: 'one', ms: 1 }, { step: 'two' }, { complete: 'Done.' }]
    const prompted = first.request('session/prompt', { sessionId, prompt: script(...ops) })
    await expect.poll(() => asked).toEqual(['first'])

    const second = await arrive('second')
    await second.request('session/load', attach)
    await harness.began('one')
    expect(asked, 'either may answer').toEqual(['first', 'second'])
    const suspending = second.request('_session/suspend', { sessionId })
    await quiescing(second)
    harness.openGate(1)
    const { handle } = await suspending
    expect((await prompted)._meta.lull.suspend).toMatchObject({ state: 'suspended', handle })

    await first.kill()
    // The agent of the second editor has the directory now, and that of the third attaches to it.
    expect((await second.request('session/resume', attach))._meta.lull.suspend.handle).toBe(handle)
    const third = await arrive('third')
    expect((await third.request('session/resume', attach))._meta.lull.suspend.handle).toBe(handle)
    await third.request('_session/wake', { sessionId, handle })
    await expect.poll(() => said(second)).toEqual(['Done.'])
    await expect.poll(() => said(third)).toEqual(['Done.'])
    expect(['one', 'two'].map(harness.ended)).toEqual([1, 1])
    // The second one's agent serves the third one until that leaves.
    await third.hangUp()
  })

  it('go on in the middle of a prompt, which is answered with an error, once', async () => {
    const arrive = async (): Promise<Connected> => {
      const editor = harness.connect('2.4.0', { permission: allow })
      await harness.initialize(editor)
      return editor
    }
    // The first one gets the directory.
    const first = await arrive()
    const [second, third] = [await arrive(), await arrive()]
    const sessionId = await harness.open(second)
    const ops = [{ say: 'begun' }, { step: 'one', ms: 1 }, { complete: 'Done.' }]
    const prompted = second
      .request('session/prompt', { sessionId, prompt: script(...ops) })
      .catch((error: { readonly data?: object }) => error.data)
    await harness.began('one')
    await Promise.all([first.kill(), harness.began('one', 2)])
    expect(await prompted).toEqual({ reason: 'process_gone' })
    // Answered once the session is attached to the process that has the directory now.
    await second.request('session/resume', { sessionId, cwd: harness.cwd, mcpServers: [] })
    harness.openGate(1)
    await expect.poll(() => said(second)).toContain('Done.')

    const again = { sessionId, prompt: script({ complete: 'And again.' }) }
    expect((await second.request('session/prompt', again)).stopReason).toBe('end_turn')
    expect(await harness.open(third)).not.toBe(sessionId)
    expect(harness.ended('one')).toBe(1)
    // Either has the directory now, and serves the other one until that leaves.
    await Promise.all([second.hangUp(), third.hangUp()])
  })
})
