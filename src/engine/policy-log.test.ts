import { expect, it } from 'vitest'
import { createWorld, type LogLine, running } from './test-support/world.ts'

const stops = (said: readonly LogLine[]) =>
  said
    .filter(({ text }) => text === 'a task was stopped by policy')
    .map(({ level, facts }) => [level, facts?.['taskId'], facts?.['reason']])

it('a task whose agent is gone is stopped with a line in the log', async () => {
  const world = await createWorld({
    agents: [running((task) => task.step('wait', () => new Promise(() => undefined)))],
  })
  const { id } = await world.send('go')
  await world.settled()
  const next = await world.recover({ agents: [running(() => 'x', { name: 'other' })] })
  await next.until(id, 'paused-by-client')
  expect(stops(next.said)).toEqual([['warn', id, 'agent-unknown']])
})

it('a task with too many records is stopped with one line in the log', async () => {
  const world = await createWorld({
    options: { journalRecords: 5 },
    agents: [
      running(async (task) => {
        for (let n = 0; n < 10; n++) await task.step('a', () => n)
      }),
    ],
  })
  const { id } = await world.send('go')
  await world.until(id, 'paused-by-client')
  expect(stops(world.said)).toEqual([['warn', id, 'journal-limit']])
})

it('a task whose code has changed is stopped with one line in the log', async () => {
  const asking = (question: string) =>
    running(async (task) => {
      await task.ask(question)
      await task.park({ reason: 'x' })
    })
  const world = await createWorld({ agents: [asking('one?')] })
  const { id } = await world.send('go')
  await world.until(id, 'input-required')
  await world.tell(id, 'yes')
  await world.until(id, 'paused-by-agent')
  const next = await world.recover({ agents: [asking('another?')] })
  await next.engine.resume({ tenant: 'acme', principal: 'alice' }, { taskId: id })
  await next.until(id, 'paused-by-client')
  expect(stops(next.said)).toEqual([['warn', id, 'code-changed']])
})
