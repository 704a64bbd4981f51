import { expect, it } from 'vitest'
import { fromTraceparent, toTraceparent, toWireSpanLink } from './span-link.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

it('reads what it writes', () => {
  for (const link of [
    { traceId, spanId },
    { traceId, spanId, sampled: false as const },
  ]) {
    expect(fromTraceparent(toTraceparent(link))).toEqual(link)
  }
  expect(toTraceparent({ traceId, spanId })).toBe(`00-${traceId}-${spanId}-01`)
})

it('reads a later version, which may have more parts', () => {
  expect(fromTraceparent(`01-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId })
})

it.each([
  ['nothing', undefined],
  ['no text', 7],
  ['another text', 'hello'],
  ['version ff', `ff-${traceId}-${spanId}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['capital letters', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['a tail', `00-${traceId}-${spanId}-01x`],
])('takes %s for no traceparent', (_, given) => {
  expect(fromTraceparent(given)).toBeUndefined()
})

it("writes the RFCs' SpanLink without the flag", () => {
  expect(toWireSpanLink({ traceId, spanId, sampled: false })).toEqual({
    trace_id: traceId,
    span_id: spanId,
  })
})
