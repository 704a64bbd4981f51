import { expect, it } from 'vitest'
import { createHarness, type LogLine, running } from '../test-support/engine-harness.ts'

const stops = (said: readonly LogLine[]) =>
  said
    .filter(({ text }) => text === 'a task was stopped by policy')
    .map(({ level, facts }) => [level, facts?.['taskId'], facts?.['reason']])

it('a line about a task names its context, tenant and agent too', async () => {
  const harness = await createHarness({
    agents: [running(() => Promise.reject(new Error('no')))],
  })
  const { id, contextId } = await harness.send('go')
  await harness.ended(id)
  const failed = harness.said.find(({ text }) => text === 'an agent failed')
  expect(failed?.facts).toMatchObject({ taskId: id, contextId, tenant: 'acme', agent: 'worker' })
})

it('a task whose agent is gone is stopped with a line in the log', async () => {
  const harness = await createHarness({
    agents: [running((task) => task.step('wait', () => new Promise<string>(() => undefined)))],
  })
  const { id } = await harness.send('go')
  await harness.settled()
  const next = await harness.recover({ agents: [running(() => 'x', { name: 'other' })] })
  await next.until(id, 'paused-by-client')
  expect(stops(next.said)).toEqual([['warn', id, 'agent-unknown']])
})

it('a task with too many records is stopped with one line in the log', async () => {
  const harness = await createHarness({
    options: { journalRecords: 5 },
    agents: [
      running(async (task) => {
        for (let n = 0; n < 10; n++) await task.step('a', () => n)
      }),
    ],
  })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-client')
  expect(stops(harness.said)).toEqual([['warn', id, 'journal-limit']])
})

it('a task whose code has changed is stopped with one line in the log', async () => {
  const asking = (question: string) =>
    running(async (task) => {
      await task.ask(question)
      await task.park({ reason: 'x' })
    })
  const harness = await createHarness({ agents: [asking('one?')] })
  const { id } = await harness.send('go')
  await harness.until(id, 'input-required')
  await harness.tell(id, 'yes')
  await harness.until(id, 'paused-by-agent')
  const next = await harness.recover({ agents: [asking('another?')] })
  await next.engine.resume({ tenant: 'acme', principal: 'alice' }, { taskId: id })
  await next.until(id, 'paused-by-client')
  expect(stops(next.said)).toEqual([['warn', id, 'code-changed']])
})
