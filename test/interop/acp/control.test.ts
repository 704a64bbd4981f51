/** Suspend, resume and remind with nothing but ACP: a config option and slash commands, from an SDK client as it is. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Any } from './generations.ts'
import {
  type Connected,
  type Harness,
  openHarness,
  quiescing,
  said,
  script,
  text,
} from './harness.ts'

let harness: Harness
let client: Connected
let sessionId: string
let opened: Any
beforeEach(async () => {
  harness = openHarness()
  client = harness.connect('2.4.0')
  await harness.initialize(client)
  opened = await client.request('session/new', { cwd: harness.cwd, mcpServers: [] })
  sessionId = opened.sessionId
})
afterEach(() => harness.close())

const steps = [
  { step: 'one' },
  { step: 'two', ms: 1 },
  { step: 'three', ms: 2 },
  { complete: 'Done.' },
]
const prompt = (prompt: readonly Any[]): Promise<Any> =>
  client.request('session/prompt', { sessionId, prompt })
const runState = (options: readonly Any[]): Any => options.find(({ id }) => id === 'run_state')
const set = async (value: string): Promise<Any> => {
  const params = { sessionId, configId: 'run_state', value }
  const { configOptions } = await client.request('session/set_config_option', params)
  return runState(configOptions)
}

describe('the option run_state', () => {
  it('suspends in the middle of a prompt and resumes', async () => {
    expect(runState(opened.configOptions)).toMatchObject({ type: 'select', id: 'run_state' })
    const prompted = prompt(script(...steps))
    await harness.began('two')
    const remembered = await harness.offered('suspended')
    const setting = set(remembered)
    await quiescing(client)
    harness.openGate(1)
    await setting
    expect(await prompted).toMatchObject({
      stopReason: 'end_turn',
      _meta: { lull: { suspend: { state: 'suspended' } } },
    })
    await set(await harness.offered('running'))
    await harness.began('three')
    const again = await set(remembered)
    expect(again.currentValue, 'a value of the past changes nothing').toMatch(/^running/)
    harness.openGate(2)
    await expect.poll(() => said(client)).toContain('Done.')
    expect(['one', 'two', 'three'].map(harness.ended)).toEqual([1, 1, 1])
  })
})

describe('slash commands', () => {
  it('are offered, and suspend, remind and resume', async () => {
    const names = () =>
      client.updates.flatMap(({ update }) =>
        (update.availableCommands ?? []).map(({ name }: Any) => name),
      )
    await expect.poll(names).toEqual(expect.arrayContaining(['suspend', 'resume', 'remind']))
    const prompted = prompt(
      script(...steps.slice(0, 2), { echo: 'reminders' }, { complete: 'Done.' }),
    )
    await harness.began('two')
    await prompt(text('/remind Mind the gap'))
    const suspending = prompt(text('/suspend for review'))
    await quiescing(client)
    harness.openGate(1)
    await suspending
    expect(await prompted).toMatchObject({
      stopReason: 'end_turn',
      _meta: { lull: { suspend: { state: 'suspended', reason: 'for review' } } },
    })
    await prompt(text('/resume'))
    await expect.poll(() => said(client)).toContain('Done.')
    expect(JSON.stringify(client.updates)).toContain('Mind the gap')
  })
})
