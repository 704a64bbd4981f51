import { generateText, stepCountIs, tool } from 'ai'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { alice, createHarness, running } from '../engine/test-support/engine-harness.ts'
import { tracing } from '../server/telemetry/tracing.ts'
import { idOf, type RecordedSpans, recordSpans } from '../server/test-support/recorded-spans.ts'
import { durableModel } from './model/durable-model.ts'
import { scriptedModel } from './test-support/mock-model.ts'
import { durableTools } from './tools/durable-tools.ts'

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
})
afterEach(() => spans.stop())

const SECRET = 'canary-5f2b'

const asking = running(async (task) => {
  const { model } = scriptedModel((turn) =>
    turn === 0
      ? {
          calls: [{ tool: 'weather', input: { city: SECRET }, id: 'call-1' }],
          usage: { input: 11, output: 7 },
        }
      : { text: SECRET },
  )
  const weather = tool({
    description: 'the weather',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  })
  await generateText({
    model: durableModel(task, model),
    tools: durableTools(task, { weather }),
    prompt: task.text,
    temperature: 0.5,
    stopWhen: stepCountIs(5),
  })
  await task.park({ reason: 'enough' })
})

it('names model and tool calls as the conventions say, once, and none of their words', async () => {
  const harness = await createHarness({ agents: [asking], tracing })
  const { id, contextId } = await harness.send(SECRET)
  await harness.until(id, 'paused-by-agent')
  const next = await harness.restart()
  await next.engine.resume(alice, { taskId: id })
  await next.ended(id)

  const [chat, second] = spans.named('chat scripted')
  expect(spans.named('chat scripted')).toHaveLength(2)
  expect(chat?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'scripted',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.conversation.id': contextId,
    'gen_ai.response.finish_reasons': ['tool-calls'],
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 7,
  })
  expect(second?.attributes['gen_ai.response.finish_reasons']).toEqual(['stop'])
  const called = spans.one('execute_tool weather')
  expect(called.attributes).toMatchObject({
    'gen_ai.tool.name': 'weather',
    'gen_ai.tool.call.id': 'call-1',
  })
  const steps = spans.all().filter(({ name }) => name.startsWith('step '))
  for (const span of [chat, second, called]) {
    expect(steps.map(idOf)).toContain(span?.parentSpanContext?.spanId)
  }
  const shown = spans.all().map(({ name, attributes, events }) => [name, attributes, events])
  expect(JSON.stringify(shown)).not.toContain(SECRET)
})
