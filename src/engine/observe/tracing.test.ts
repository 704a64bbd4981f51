/** T1 to T4 of `observe/trace-records.ts`, G1 and G2 of `observe/segment.ts`, X5 of `operations/execution.ts`, with the SDK of OpenTelemetry. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { LogRecord } from '../../core/records.ts'
import type { Store } from '../../ports/store.ts'
import { tracing } from '../../server/telemetry/tracing.ts'
import {
  idOf,
  linksOf,
  type RecordedSpans,
  recordSpans,
} from '../../server/test-support/recorded-spans.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, createHarness, running, signal } from '../test-support/engine-harness.ts'

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
})
afterEach(() => spans.stop())

const parker = running(
  async (task) => {
    await task.step('before', () => 1)
    await task.park({ reason: 'waiting for CI', onEvent: 'ci.done' })
    await task.step('after', () => 2)
    return 'done'
  },
  { name: 'parker' },
)

const isStop = (record: LogRecord): boolean => record.type === 'parked' || record.type === 'paused'

it('T1: the suspension span has ended before the stop is stored, and the stop has its link', async () => {
  const endedBefore: string[][] = []
  const memory = createMemoryStore()
  const store: Store = {
    ...memory,
    commit(batch) {
      if (batch.some(({ records }) => records.some(isStop)))
        endedBefore.push(spans.named('suspension').map(idOf))
      return memory.commit(batch)
    },
  }
  const harness = await createHarness({ agents: [parker], store, tracing })
  const { id } = await harness.send('go')
  const task = await harness.until(id, 'paused-by-agent')
  const suspension = spans.one('suspension')
  expect(endedBefore).toEqual([[idOf(suspension)]])
  expect(task.suspension?.links).toEqual({
    span: { traceId: suspension.spanContext().traceId, spanId: idOf(suspension) },
    pipelineSpan: { traceId: suspension.spanContext().traceId, spanId: expect.any(String) },
  })
  expect(suspension.attributes).toMatchObject({
    worker_id: id,
    handle: task.suspension?.handle,
    reason: 'waiting for CI',
    initiator: 'agent',
    has_conditions: true,
    pipeline_span_id: task.suspension?.links?.pipelineSpan?.spanId,
    'lull.agent': 'parker',
  })
  expect(suspension.events).toMatchObject([
    {
      name: 'task.state_changed',
      attributes: { from_state: 'working', to_state: 'paused-by-agent' },
    },
  ])
})

it('T2: after a restart, the resume span has no parent and links to both spans of the stop', async () => {
  const first = await createHarness({ agents: [parker], tracing })
  const { id } = await first.send('go')
  await first.until(id, 'paused-by-agent')
  const second = await first.restart()
  await second.engine.resume(alice, { taskId: id, input: 'secret' })
  await second.ended(id)
  const resume = spans.one('resume')
  const [before, after] = spans.named('segment parker')
  expect(resume.parentSpanContext).toBeUndefined()
  expect(linksOf(resume)).toEqual({
    suspension: idOf(spans.one('suspension')),
    pipeline: before && idOf(before),
  })
  expect(resume.attributes).toMatchObject({
    worker_id: id,
    had_resume_input: true,
    linked_suspension_count: 2,
  })
  expect(after?.parentSpanContext?.spanId).toBe(idOf(resume))
  expect(after?.attributes['lull.segment.rebuilt']).toBe(true)
})

it('T2: another process of a shared store pairs the spans, and links to the event', async () => {
  const cluster = createClusterHarness({ agents: [parker], tracing })
  const a = await cluster.join()
  const { id } = await a.send('go')
  await cluster.settled()
  a.crash()
  const b = await cluster.join()
  await cluster.pass(30_000)
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
  await b.emit('ci.done', { traceparent })
  await cluster.pass(1_000)
  expect((await b.get(id)).state).toBe('completed')
  const [before] = spans.named('segment parker')
  expect(linksOf(spans.one('resume'))).toEqual({
    suspension: idOf(spans.one('suspension')),
    pipeline: before && idOf(before),
    event: '2'.repeat(16),
  })
})

it('T3: a stop that loses against another write, and is decided again, is one span', async () => {
  const memory = createMemoryStore()
  let lost = false
  const store: Store = {
    ...memory,
    async commit(batch) {
      const stops = batch.some(({ records }) => records.some(isStop))
      if (!stops || lost) return memory.commit(batch)
      lost = true
      return batch.map(({ expected }) => ({ status: 'conflict', version: expected }) as const)
    },
  }
  const harness = await createHarness({ agents: [parker], store, tracing })
  const { id } = await harness.send('go')
  const task = await harness.until(id, 'paused-by-agent')
  expect(lost).toBe(true)
  expect(task.suspension?.links?.span?.spanId).toBe(idOf(spans.one('suspension')))
})

it('T4: a resume that the store refuses is no span', async () => {
  const memory = createMemoryStore()
  let broken = false
  const store: Store = {
    ...memory,
    async commit(batch) {
      if (broken) throw new Error('the disk is full')
      return memory.commit(batch)
    },
  }
  const harness = await createHarness({ agents: [parker], store, tracing })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  broken = true
  await expect(harness.engine.resume(alice, { taskId: id })).rejects.toThrow()
  expect(spans.named('resume')).toEqual([])
  broken = false
  await harness.engine.resume(alice, { taskId: id })
  await harness.ended(id)
  expect(spans.named('resume')).toHaveLength(1)
})

it('G1: a run that stays in memory has one segment per stretch, with its steps in it', async () => {
  const harness = await createHarness({ agents: [parker], tracing })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await harness.engine.resume(alice, { taskId: id })
  await harness.ended(id)
  const [first, second] = spans.named('segment parker')
  expect(spans.named('segment parker')).toHaveLength(2)
  expect(spans.one('step before').parentSpanContext?.spanId).toBe(first && idOf(first))
  expect(spans.one('step after').parentSpanContext?.spanId).toBe(second && idOf(second))
  expect(second?.attributes).toMatchObject({
    'lull.segment.rebuilt': false,
    'lull.task.state': 'completed',
  })
  expect(second?.events.at(-1)?.attributes).toEqual({
    from_state: 'working',
    to_state: 'completed',
  })
})

it('G2: a recorded step is no span again, and a failed attempt is one', async () => {
  let tries = 0
  const flaky = running(async (task) => {
    await task.step(
      'outer',
      async () => {
        await task.step('inner', () => 1)
        if (++tries === 1) throw new TypeError('the answer was secret')
        return tries
      },
      { retry: { attempts: 1, backoffMs: 1 } },
    )
    await task.park({ reason: 'later' })
  })
  const harness = await createHarness({ agents: [flaky], tracing })
  const { id } = await harness.send('go')
  await harness.pass(1_000)
  const next = await harness.recover()
  await next.engine.resume(alice, { taskId: id })
  await next.ended(id)
  const outer = spans.named('step outer')
  expect(outer.map(({ attributes }) => attributes['lull.step.outcome'])).toEqual(['failed', 'done'])
  expect(outer[0]?.attributes['error.type']).toBe('TypeError')
  expect(
    JSON.stringify(outer.map(({ attributes, events, status }) => [attributes, events, status])),
  ).not.toContain('secret')
  const inner = spans.named('step inner').map((span) => span.parentSpanContext?.spanId)
  expect(inner).toEqual(outer.map(idOf))
})

it('X5: the span of a step ends when its task is canceled, although the step goes on', async () => {
  const release = signal()
  const deaf = running(async (task) => {
    await task.step('deaf', () => release.promise)
  })
  const harness = await createHarness({ agents: [deaf], tracing })
  const { id } = await harness.send('go')
  await harness.settled()
  expect(spans.named('step deaf')).toEqual([])
  await harness.engine.cancel(alice, { taskId: id })
  await harness.settled()
  expect(spans.one('step deaf').attributes).toMatchObject({ 'lull.step.outcome': 'aborted' })
  release.fire()
  await harness.settled()
  expect(spans.named('step deaf')).toHaveLength(1)
})

it('counts a pause from its request, and puts it into the trace of the one who asked', async () => {
  const release = signal()
  const slow = running(async (task) => {
    await task.step('slow', () => release.promise)
    await task.step('next', () => 1)
  })
  const harness = await createHarness({ agents: [slow], tracing })
  const { id } = await harness.send('go')
  await harness.settled()
  const pausing = harness.engine.pause(alice, { taskId: id, reason: 'lunch' })
  await harness.pass(3_000)
  release.fire()
  await pausing
  const suspension = spans.one('suspension')
  expect(suspension.duration[0]).toBe(3)
  expect(suspension.attributes).toMatchObject({ initiator: 'client', reason: 'lunch' })
})

it('gives a reminder a span', async () => {
  const harness = await createHarness({ agents: [parker], tracing })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await harness.engine.remind(alice, { taskId: id, reminder: { body: 'be brief' } })
  expect(spans.one('reminder').attributes).toMatchObject({ 'lull.task.id': id })
})

it('makes a sub-task part of the trace of its parent', async () => {
  const child = running(() => 'done', { name: 'child' })
  const parent = running(
    async (task) => {
      await (await task.delegate('child', 'go')).result()
    },
    { name: 'parent' },
  )
  const harness = await createHarness({ agents: [parent, child], tracing })
  const { id } = await harness.send('go')
  await harness.ended(id)
  const trace = spans.one('segment parent').spanContext().traceId
  expect(spans.one('segment child').spanContext().traceId).toBe(trace)
})

it('writes the records it wrote before, while no SDK is registered', async () => {
  await spans.stop()
  const harness = await createHarness({ agents: [parker], tracing })
  const { id } = await harness.send('go')
  const task = await harness.until(id, 'paused-by-agent')
  expect(task.trace).toBeUndefined()
  expect(task.suspension).not.toHaveProperty('links')
  expect(spans.all()).toEqual([])
})
