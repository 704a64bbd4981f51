/** One message with a key that reaches two processes of an agent that decides before a task exists. */
import { expect, it } from 'vitest'
import { agent } from '../author/agent.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { alice, effects, message, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000

async function two(fails = false) {
  const asked = effects()
  const go = signal()
  const receiving = agent({
    name: 'desk',
    description: 'answers at once',
    receive: async (_message, { reply }) => {
      asked.note('receive')
      if (fails && asked.count('receive') === 1) throw new Error('no model')
      await go.promise
      return reply('yes')
    },
  })
  const cluster = createClusterHarness({ agents: [receiving] })
  const a = await cluster.join()
  const b = await cluster.join()
  const request = { message: message('may I?'), idempotencyKey: 'k' }
  return { cluster, a, b, request, asked, go }
}

it('is received once, and both processes give the same answer', async () => {
  const { cluster, a, b, request, asked, go } = await two()
  const answers = [a.engine.send(alice, request), b.engine.send(alice, request)]
  await cluster.pass(4 * LEASE_MS)
  expect(asked.list).toEqual(['receive'])
  go.fire()
  await cluster.pass(1_000)
  const [one, other] = await Promise.all(answers)
  expect(asked.list).toEqual(['receive'])
  expect(one?.kind === 'message' && one.message).toEqual(other?.kind === 'message' && other.message)
})

it('is received again when the first process dies, or its agent fails', async () => {
  const { cluster, a, b, request, asked, go } = await two()
  a.engine.send(alice, request).catch(() => undefined)
  await cluster.settled()
  a.crash()
  const answer = b.engine.send(alice, request)
  await cluster.pass(2 * LEASE_MS)
  expect(asked.count('receive')).toBe(2)
  go.fire()
  await cluster.settled()
  expect(await answer).toMatchObject({ kind: 'message' })

  const other = await two(true)
  await expect(other.a.engine.send(alice, other.request)).rejects.toThrow('no model')
  other.go.fire()
  expect(await other.b.engine.send(alice, other.request)).toMatchObject({ kind: 'message' })
})
