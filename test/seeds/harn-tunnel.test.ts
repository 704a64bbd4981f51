/** The migration path of the PAUSED state RFC: `metadata.harn`, in and out, on a running server. Deprecated from the start. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScriptAgent } from '../../src/testing/script-agent/script-agent.ts'
import type { Loose } from './examples.ts'
import { type Harness, openHarness } from './harness.ts'

const CONTROL = 'urn:lull:a2a:task-control:1'
/** A boundary every few milliseconds, without end. */
const busy = [{ repeat: 4_000, ops: [{ step: 'tick', ms: 5 }] }]

let harness: Harness

beforeAll(async () => {
  harness = await openHarness({ agents: [createScriptAgent()] })
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
})

async function working(): Promise<string> {
  const { id } = await harness.script(busy)
  await harness.until(id, 'working')
  return id
}

let count = 0

/** As older peers send it: a message without a word, the operation in the metadata of the request. */
function tunnelled(taskId: string, harn: object): Promise<Loose> {
  const parts = [{ kind: 'text', text: '' }]
  const message = { role: 'user', messageId: `tunnel-${++count}`, taskId, parts }
  return harness.call('tasks/send', { message, metadata: { harn } })
}

describe('outbound', () => {
  it('decorates every status update of a pause with its state, handle, reason and conditions', async () => {
    const id = await working()
    const frames = harness.stream('tasks/resubscribe', { id })
    await frames.next()
    const conditions = { onEvent: 'ci.done', timeout: { durationMinutes: 5, onTimeout: 'fail' } }
    const { handle } = await harness.result('tasks/pause', {
      taskId: id,
      reason: 'look',
      conditions,
    })
    await harness.result('tasks/resume', { taskId: id })
    await harness.result('tasks/cancel', { id })
    const told: Loose[] = []
    for await (const { result } of frames) {
      if (result.status.state !== 'canceled') told.push(result.metadata.harn.pause)
    }
    // Where a step was running, the pause that waited for it was told first, with the same facts.
    const waiting = told.filter(({ pausing }) => pausing)
    expect(waiting.every((one) => one.handle === handle && one.state === 'working')).toBe(true)
    const timeout = { duration_minutes: 5, on_timeout: 'fail' }
    expect(told.filter(({ pausing }) => !pausing)).toMatchObject([
      {
        state: 'paused-by-client',
        handle,
        reason: 'look',
        resume_when: { on_event: 'ci.done', timeout },
      },
      { state: 'active', handle, cause: 'explicit_resume' },
    ])
  })

  it('carries the WorkerSuspension envelope, field by field', async () => {
    const park = { reason: 'waiting', conditions: { onEvent: 'go' } }
    const { id } = await harness.script([{ delegate: { script: [{ park }] } }, { child: 'wait' }])
    let child: string | undefined
    const found = async (): Promise<string | undefined> => {
      const { tasks } = await listed()
      child = tasks.find((task: Loose) => task.metadata?.harn?.pause?.parent_worker_id === id)?.id
      return child
    }
    await expect.poll(found).toBeDefined()
    const { metadata } = await harness.get(child ?? '')
    const { suspended_at_ms: at, ...envelope } = metadata.harn.pause
    expect(envelope).toEqual({
      state: 'paused-by-agent',
      handle: metadata[CONTROL].handle,
      reason: 'waiting',
      resume_when: { on_event: 'go' },
      initiator: 'agent',
      parent_worker_id: id,
    })
    expect(new Date(at).toISOString()).toBe(metadata[CONTROL].pausedAt)
  })
})

async function listed(): Promise<Loose> {
  const request = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
  return (await harness.post(request, undefined, { 'a2a-version': '1.0' })).result
}

describe('inbound', () => {
  it('pauses and resumes a task by the metadata of a send, and leaves its history alone', async () => {
    const id = await working()
    const before = (await harness.get(id)).history
    const pause = { op: 'pause', reason: 'operator review', mode: 'finish_step' }
    const { result } = await tunnelled(id, { pause })
    expect(result.status.state).toBe('paused-by-client')
    const { handle, reason } = result.metadata.harn.pause
    expect(reason).toBe('operator review')
    const { result: resumed } = await tunnelled(id, { pause: { op: 'resume', handle } })
    expect(resumed.status.state).toBe('working')
    expect(resumed.history).toEqual(before)
  })

  it('is held to the same rules as the methods it stands for', async () => {
    const id = await working()
    const code = async (harn: object): Promise<number> => (await tunnelled(id, harn)).error?.code
    expect(await code({ pause: { mode: 'soon' } })).toBe(-32602)
    expect(await code({ pause: { op: 'resume' } })).toBe(-32011)
    expect(await code({ pause: { conditions: { on_tuesday: true } } })).toBe(-32602)
    await tunnelled(id, { pause: {} })
    expect(await code({ pause: { op: 'resume', handle: 'suspend-other' } })).toBe(-32012)
    expect((await harness.get(id)).status.state).toBe('paused-by-client')
  })
})

it('stays for a minor version: the docs name the one that drops it, and that has not come', () => {
  const read = (file: string): string =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const line = /^\| `a2a\.harnTunnel` \|.* Lull (\d+)\.(\d+)\.0 drops it/m.exec(
    read('docs/configuration.md'),
  )
  const drops = line?.slice(1).map(Number) ?? []
  const [major = 0, minor = 0] = JSON.parse(read('package.json')).version.split('.').map(Number)
  expect(drops[0]).toBeGreaterThanOrEqual(major)
  expect((drops[0] ?? 0) * 1_000 + (drops[1] ?? 0)).toBeGreaterThan(major * 1_000 + minor)
})
