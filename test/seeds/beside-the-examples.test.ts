/** What the documents promise beside their examples: scenarios that they only mention, over A2A. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agent } from '../../src/index.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import { binduOn } from './bindu-tasks.ts'
import type { Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'

const lines: string[] = []
const effects = (line: string): void => {
  lines.push(line)
}
/** The steps of the agent `staged` end when this clock says so. */
const clock = createManualClock()
const LONG = 1_000

const look = { turn: [{ echo: 'reminders' }] }

/** Delegates, and tells its worker of the file that the host's watcher saw change. */
const workflow = agent({
  name: 'workflow',
  description: 'Delegates and watches files',
  async run(task) {
    const script = [{ park: { reason: 'waiting' } }, look]
    const child = await task.delegate('script', [{ data: { script } }])
    const { event } = await task.park({ reason: 'watching files', onEvent: 'file.changed' })
    const file = event !== undefined && 'subject' in event ? event.subject : undefined
    await child.remind({ body: `${file} has changed.`, source: 'file-watcher' })
    await child.resume()
    await child.result()
  },
})

let harness: Harness

beforeAll(async () => {
  const staged = createScriptAgent({ name: 'staged', clock, effects })
  harness = await openHarness({ agents: [createScriptAgent(), staged, workflow] })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

function seenBy(task: Loose, look = 0): readonly Loose[] {
  const { data } = task.artifacts[look].parts[0]
  const shown: readonly Loose[] = data.value ?? data
  return shown.filter(({ source }) => source !== 'lull')
}

it('the digest of a resume without transcript says what was said and done', async () => {
  const { id } = await harness.script([
    { step: 'measure the hull' },
    { turn: [{ say: 'first words' }] },
    { park: { reason: 'waiting for paint' } },
    { echo: 'transcript' },
  ])
  await harness.until(id, 'paused-by-agent')
  await harness.result('tasks/resume', { taskId: id, continueTranscript: false })
  const { artifacts } = await harness.until(id, 'completed')
  const [digest] = artifacts[0].parts[0].data.value ?? artifacts[0].parts[0].data
  for (const part of ['measure the hull', 'first words', 'waiting for paint']) {
    expect(digest.content).toContain(part)
  }
})

describe('a panic', () => {
  it('interrupts the running step of every task, and is lifted with the cause external_event', async () => {
    const operator = { tenant: 'default', principal: 'operator', operator: true }
    const script = [{ step: 'long', ms: LONG }]
    const tasks: readonly Loose[] = await Promise.all(
      [1, 2].map(() => harness.script(script, {}, 'staged')),
    )
    const ran = (id: string): readonly string[] =>
      lines.filter((line) => line.includes(id)).map((line) => line.split(' ', 1)[0] ?? '')
    for (const { id } of tasks) await expect.poll(() => ran(id)).toEqual(['begin'])
    const scope = { agent: 'staged' }
    const { holdId } = await harness.engine.hold(operator, { scope, reason: 'incident' })
    for (const { id } of tasks) {
      const { metadata } = await harness.until(id, 'paused-by-client')
      expect(metadata.harn.pause.reason).toBe('incident')
      expect(ran(id)).toEqual(['begin', 'abort'])
      expect((await harness.error('tasks/resume', { taskId: id })).code).toBe(-32011)
    }
    await harness.engine.lift(operator, holdId)
    for (const { id } of tasks) {
      await expect.poll(() => ran(id)).toEqual(['begin', 'abort', 'begin'])
      expect((await harness.get(id)).metadata.harn.pause.cause).toBe('external_event')
    }
    clock.advance(LONG)
    for (const { id } of tasks) await harness.until(id, 'completed')
  })
})

describe('a reminder', () => {
  it('with a TTL of 1 is a block of the next turn alone', async () => {
    const { id } = await harness.script([{ park: { reason: 'waiting' } }, look, look])
    await harness.until(id, 'paused-by-agent')
    const reminder = { body: 'Mind the gap.', ttlTurns: 1 }
    await harness.result('tasks/inject_reminder', { taskId: id, reminder })
    await harness.result('tasks/resume', { taskId: id })
    const done = await harness.until(id, 'completed')
    expect(seenBy(done, 0)).toMatchObject([{ body: 'Mind the gap.', roleHint: 'system' }])
    expect(seenBy(done, 1)).toEqual([])
  })

  it('carries what a file watcher saw from a workflow to the worker it delegated to', async () => {
    const started = await harness.result(
      'message/send',
      {
        message: { role: 'user', messageId: 'watch', parts: [{ kind: 'text', text: 'Watch' }] },
        configuration: { blocking: false },
      },
      'workflow',
    )
    await harness.until(started.id, 'paused-by-agent')
    await harness.emit({ type: 'file.changed', subject: 'src/main.ts' })
    const { contextId } = await harness.until(started.id, 'completed')
    const response = await fetch(
      `${harness.url}/tasks?contextId=${contextId}&includeArtifacts=true`,
    )
    const { tasks } = (await response.json()) as Loose
    const worker = tasks.find((task: Loose) => task.id !== started.id)
    const told = { body: 'src/main.ts has changed.', source: 'file-watcher' }
    expect(seenBy(worker)).toMatchObject([told])
    expect(JSON.stringify(worker.history)).not.toContain(told.body)
  })
})

describe.each(['sqlite', 'memory'])('on the store %s', (store) => {
  it('a checkpoint is shown and cleared, and needs no schema of its own', async () => {
    await using other = await openHarness({ agents: [createScriptAgent()], config: { store } })
    const bindu = binduOn(() => other)
    const id = await bindu.suspended()
    expect((await bindu.get(id)).metadata.checkpoint).toBeDefined()
    await bindu.resume(id)
    expect((await bindu.get(id)).metadata?.checkpoint).toBeUndefined()
  })
})
