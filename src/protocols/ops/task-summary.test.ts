import { expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../engine/author/agent.ts'
import { createHarness, olga, running } from '../../engine/test-support/engine-harness.ts'
import { opsRoutes } from './routes.ts'
import { summaryOf } from './task-summary.ts'

it('a summary has the choices and the schema of the question', async () => {
  const asks = running(async (task) => {
    await task.ask({ text: 'How?', choices: ['squash', 'merge'] })
    await task.ask({ text: 'When?', schema: z.object({ at: z.string() }) })
  })
  const harness = await createHarness({ agents: [asks] })
  const { id } = await harness.send('go')
  const first = summaryOf(await harness.until(id, 'input-required'), 0)
  expect(first.question?.choices).toEqual([{ value: 'squash' }, { value: 'merge' }])
  await harness.tell(id, 'merge')
  const second = await harness.until(id, ({ question }) => question?.schema !== undefined)
  expect(summaryOf(second, 0).question?.schema).toMatchObject({ type: 'object' })
})

it('the list of agents has the schema of their input, for a form', async () => {
  const input = z.object({ city: z.string() })
  const agents = [
    agent({ name: 'booker', description: 'Books', input, run: () => 'x' }),
    agent({ name: 'plain', description: 'Does', run: () => 'x' }),
  ]
  const { engine } = await createHarness({ agents })
  const route = opsRoutes.find(({ path }) => path === '/ops/agents')
  const request = {
    id: '',
    query: new URLSearchParams(),
    body: undefined,
    anyTenant: true,
    scopes: new Set<never>(),
    now: 0,
  }
  expect(await route?.handle(engine, olga, request)).toMatchObject({
    agents: [
      { name: 'booker', input: { properties: { city: { type: 'string' } } } },
      { name: 'plain', description: 'Does' },
    ],
  })
})

it.each([
  ['Repair the build', 'Repair the build'],
  ['{"script": [{"ask": "Which colour?"}]}', 'runner: Which colour?'],
  ['[1, 2]', 'A task of runner'],
])('a title is never JSON: %s', async (text, title) => {
  const harness = await createHarness({ agents: [running(() => undefined, { name: 'runner' })] })
  const { id } = await harness.send(text)
  expect(summaryOf(await harness.engine.get(olga, id), 0).title).toBe(title)
})

it('a summary names the trace of its task, and the server says where traces are shown', async () => {
  const harness = await createHarness({ agents: [running(() => undefined)] })
  const task = await harness.engine.get(olga, (await harness.send('go')).id)
  const traced = { ...task, trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) } }
  expect(summaryOf(traced, 0).traceId).toBe('a'.repeat(32))
  const me = opsRoutes.find(({ path }) => path === '/ops/me')
  const request = {
    ...{ id: '', query: new URLSearchParams(), body: undefined, anyTenant: true, now: 0 },
    scopes: new Set(['ops:read'] as const),
    traceUrl: 'https://traces.example/{traceId}',
  }
  expect(await me?.handle(harness.engine, olga, request)).toEqual({
    tenant: '*',
    principal: olga.principal,
    scopes: ['ops:read'],
    traceUrl: 'https://traces.example/{traceId}',
  })
})
