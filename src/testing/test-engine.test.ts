import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../engine/author/agent.ts'
import type { AgentTask } from '../engine/author/agent-task.ts'
import { testEngine } from './test-engine.ts'

const named = (run: (task: AgentTask) => Promise<string>) =>
  agent({ name: 'worker', description: 'Works', run })

describe('testEngine', () => {
  it('moves the clock through everything that falls due, in order', async () => {
    const seen: string[] = []
    const napper = named(async (task) => {
      for (let nap = 1; nap <= 3; nap++) {
        await task.sleep(task.text === 'long' ? '8 hours' : '5 hours')
        await task.step('note', () => {
          seen.push(`${task.text} ${nap}`)
        })
      }
      return 'rested'
    })
    const test = await testEngine({ agents: [napper] })
    const startedAt = test.clock.now()
    const [long, short] = [await test.send('long'), await test.send('short')]
    await test.advance('1 day')
    expect(seen).toEqual(['short 1', 'long 1', 'short 2', 'short 3', 'long 2', 'long 3'])
    expect(test.clock.now() - startedAt).toBe(86_400_000)
    for (const { id } of [long, short]) await test.until(id, 'completed')
    await test.close()
  })

  it('answers questions and consents, and emits events', async () => {
    const release = named(async (task) => {
      const { value } = await task.ask({ text: 'Where?', schema: z.object({ env: z.string() }) })
      await task.requireConsent({ prompt: 'Sure?', operation: { push: value.env } })
      const { event } = await task.park({ reason: 'ci', onEvent: 'ci.done:7' })
      const { text } = await task.ask('Well?')
      return `${value.env} ${JSON.stringify((event as { data?: unknown }).data)} ${text}`
    })
    const test = await testEngine({ agents: [release] })
    const { id } = await test.send('go')
    await test.until(id, 'input-required')
    await test.answer(id, { data: { env: 'live' } })
    await test.until(id, 'user-consent-required')
    await test.answer(id, { consent: 'granted' })
    await test.until(id, 'paused-by-agent')
    await test.emit('ci.done', { subject: '7', data: { ok: true } })
    await test.until(id, 'input-required')
    await test.answer(id, 'fine')
    const { statusMessage } = await test.until(id, 'completed')
    expect(statusMessage?.parts).toEqual([{ text: 'live {"ok":true} fine' }])
  })

  it('crashes like a process, and goes on with other code if it is told to', async () => {
    const runs: string[] = []
    const twoSteps = named(async (task) => {
      await task.step('first', () => void runs.push('first'))
      await task.park({ reason: 'x', onEvent: 'go' })
      await task.step('second', () => void runs.push('second'))
      return 'old'
    })
    const test = await testEngine({ agents: [twoSteps] })
    const { id } = await test.send('go')
    await test.until(id, 'paused-by-agent')
    await test.crash()
    await test.emit('go')
    await test.until(id, 'completed')
    expect(runs).toEqual(['first', 'second'])
    const renamed = named(async (task) => {
      await task.step('renamed', () => void runs.push('renamed'))
      return 'new'
    })
    await test.crash({ agents: [renamed] })
    expect((await test.send('again')).agent).toBe('worker')
  })

  it('replays a task without running its steps, and finds code that is not deterministic', async () => {
    let runs = 0
    const steady = named(async (task) => {
      await task.step('work', () => void runs++)
      await task.sleep('1 hour')
      return task.step('more', () => `done ${++runs}`)
    })
    const test = await testEngine({ agents: [steady] })
    const { id } = await test.send('go')
    await test.until(id, 'paused-by-agent')
    expect((await test.replay(id)).state).toBe('paused-by-agent')
    await test.advance('1 hour')
    await test.until(id, 'completed')
    const again = await test.replay(id)
    expect(again.statusMessage?.parts).toEqual([{ text: 'done 2' }])
    expect(runs).toBe(2)
    const asks = named(async (task) => (await task.ask('Changed?')).text)
    await expect(test.replay(id, { agents: [asks] })).rejects.toThrow('its code came to')
  })

  it('says why a task ended otherwise than the test expects', async () => {
    const test = await testEngine({
      agents: [named(() => Promise.reject(new Error('no luck')))],
    })
    const { id } = await test.send('go')
    await expect(test.until(id, 'completed')).rejects.toThrow(/ended as failed.*no luck/s)
  })
})
