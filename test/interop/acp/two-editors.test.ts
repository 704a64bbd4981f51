/** Two editors on one data directory: the second one's agent attaches to the first one's, until that is killed. */
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
    expect(await second.exited, 'its agent has gone').not.toBe(0)
    const third = await arrive('third')
    expect((await third.request('session/resume', attach))._meta.lull.suspend.handle).toBe(handle)
    await third.request('_session/wake', { sessionId, handle })
    await expect.poll(() => said(third)).toEqual(['Done.'])
    expect(['one', 'two'].map(harness.ended)).toEqual([1, 1])
  })
})
