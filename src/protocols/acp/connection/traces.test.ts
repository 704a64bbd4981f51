import { afterEach, beforeEach, expect, it } from 'vitest'
import { tracing } from '../../../server/telemetry/tracing.ts'
import {
  idOf,
  type RecordedSpans,
  recordSpans,
} from '../../../server/test-support/recorded-spans.ts'
import { createTraces } from './traces.ts'

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
})
afterEach(() => spans.stop())

const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`

it('continues the trace in `_meta`, and names its span in what the client is sent', async () => {
  const traces = createTraces(tracing)
  const params = { sessionId: 's', _meta: { traceparent, 'example.com/own': 1 } }
  const sent = await traces.during('session/prompt', params, async () => {
    await Promise.resolve()
    return traces.add({ sessionId: 's', _meta: { lull: {} } })
  })
  const span = spans.one('acp session/prompt')
  expect(span.parentSpanContext?.spanId).toBe('2'.repeat(16))
  expect(sent).toEqual({
    sessionId: 's',
    _meta: { lull: {}, traceparent: `00-${'1'.repeat(32)}-${idOf(span)}-01` },
  })
})

it('marks a request that failed, without its message', async () => {
  const traces = createTraces(tracing)
  const failing = traces.during('session/prompt', { _meta: 'none' }, async () => {
    throw new TypeError('the prompt was secret')
  })
  await expect(failing).rejects.toThrow('secret')
  const { attributes, events, status } = spans.one('acp session/prompt')
  expect(attributes['error.type']).toBe('TypeError')
  expect(JSON.stringify([attributes, events, status])).not.toContain('secret')
})

it('sends what it sent before while nothing is traced', async () => {
  const params = { sessionId: 's' }
  expect(createTraces(undefined).add(params)).toBe(params)
  await spans.stop()
  expect(await createTraces(tracing).during('session/prompt', params, async () => 7)).toBe(7)
})
