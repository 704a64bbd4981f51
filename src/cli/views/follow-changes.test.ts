import { expect, it } from 'vitest'
import { ClientError } from '../../client/client-error.ts'
import type { Changes } from '../../client/index.ts'
import { followChanges, sleep } from './follow.ts'

const opened: Changes = { tasks: [], more: false }
const changed: Changes = { tasks: [], more: true }
const broken = new ClientError('unreachable', 'gone', { reason: 'UNREACHABLE' })

/** A server whose connections deliver these messages and then break, or are refused. */
function serverOf(...connections: readonly (readonly Changes[] | ClientError)[]) {
  let number = 0
  return {
    async *changes(): AsyncGenerator<Changes, void> {
      const connection = connections[number++]
      if (connection instanceof ClientError) throw connection
      yield* connection ?? []
      throw broken
    },
  }
}

async function followed(ops: ReturnType<typeof serverOf>, attempts: number) {
  const left = new AbortController()
  const happened: string[] = []
  const waits: number[] = []
  const error = await followChanges(
    ops,
    {
      connected: async () => void happened.push('connected'),
      changed: async () => void happened.push('changed'),
      lost: () => happened.push('lost'),
    },
    left.signal,
    async (ms) => {
      waits.push(ms)
      if (waits.length === attempts) left.abort()
    },
  ).catch((given: unknown) => given)
  return { happened, waits, error }
}

it('L1: reads the tasks again after each connection', async () => {
  const { happened, waits } = await followed(serverOf([opened, changed], [opened]), 2)
  expect(happened).toEqual(['connected', 'changed', 'lost', 'connected', 'lost'])
  expect(waits).toEqual([250, 250])
})

it('L2: waits longer for a server that stays away', async () => {
  const { waits } = await followed(serverOf(...Array(7).fill(broken)), 7)
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
})

it('L2: ends with an error that a retry cannot fix', async () => {
  const refused = new ClientError('refused', 'no', { reason: 'FORBIDDEN', status: 403 })
  expect((await followed(serverOf([opened], refused), 5)).error).toBe(refused)
})

const HOUR = 3_600_000

it('ends at once when the signal fires, or has fired', async () => {
  const left = new AbortController()
  const before = sleep(HOUR, left.signal)
  left.abort()
  await Promise.all([before, sleep(HOUR, left.signal)])
})
