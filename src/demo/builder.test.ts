import { expect, it } from 'vitest'
import { textOf } from '../core/messages/message.ts'
import { builder } from './builder.ts'
import { openConversation } from './test-support/conversation.ts'

const completed = { id: '1', source: 'ci', type: 'ci.build.completed', subject: '1234' }

it('parks until the build is done and goes on by itself', async () => {
  const client = await openConversation([builder])
  const parked = await client.ask('Run build 1234 of release/7')
  expect(parked.state).toBe('paused-by-agent')
  expect(parked.suspension?.conditions?.onEvent).toBe('ci.build.completed:1234')

  await client.emit({ ...completed, data: { status: 'passed' } })
  const done = await client.settled(parked.id)
  expect(done.state).toBe('completed')
  expect(textOf(done.statusMessage ?? { parts: [] })).toBe('Build 1234 of release/7 passed')
  expect(done.artifacts[0]?.name).toBe('build-1234.log')
})

it('fails when the build failed', async () => {
  const client = await openConversation([builder])
  const parked = await client.ask('Run build 1234 of main')
  await client.emit({ ...completed, data: { status: 'failed' } })
  const done = await client.settled(parked.id)
  expect(done.state).toBe('failed')
  expect(done.failure?.message).toBe('Build 1234 of main failed')
})

it('ignores the builds of others', async () => {
  const client = await openConversation([builder])
  const parked = await client.ask('Run build 1234 of main')
  await client.emit({ ...completed, subject: '1235' })
  expect((await client.settled(parked.id)).state).toBe('paused-by-agent')
})

it('goes on when the pretend CI needs no event to be done', async () => {
  const client = await openConversation([builder])
  const parked = await client.ask('Build main')
  client.clock.advance(600_000)
  expect((await client.until(parked.id, 'completed')).artifacts).toHaveLength(1)
})
