/** C8 of `cluster/membership.ts`, for a process that has heard of a hold, keeps its lease, and cannot read the hold. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../ports/store.ts'
import type { AgentDefinition } from '../author/agent.ts'
import type { AgentTask } from '../author/agent-task.ts'
import { createClusterHarness } from '../test-support/cluster-harness.ts'
import { isRead } from '../test-support/delaying-store.ts'
import { alice, effects, running, signal } from '../test-support/engine-harness.ts'

const LEASE_MS = 15_000
const root = { tenant: '*', principal: 'root', operator: true }

/** What notes "two" after `go`: the code itself, or a function of the agent. */
interface Code {
  run(task: AgentTask, go: Promise<void>, note: () => void): Promise<unknown>
  readonly some?: (note: () => void) => Partial<AgentDefinition>
}

const step: Code = {
  async run(task, go, note) {
    await go
    await task.step('two', note)
  },
}

const kinds: Readonly<Record<string, Code>> = {
  step,
  'step in a batch': {
    run: (task, go, note) =>
      task.turn(async (turn) => {
        await go
        await turn.tools([{ name: 'two', run: async () => note() ?? null }])
      }),
  },
  compaction: {
    async run(task, go) {
      await go
      await task.compact()
    },
    some: (note) => ({
      compact(entries) {
        note()
        return [...entries]
      },
    }),
  },
  digest: {
    async run(task, go) {
      await go
      await task.turn(async () => undefined)
    },
    some: (note) => ({
      digest() {
        note()
        return 'digest'
      },
    }),
  },
}

/** The first process has a task that begins "two" at `go`. Its reads hang when the test says so; its heartbeats arrive. */
async function started({ run: rest, some }: Code = step) {
  const done = effects()
  const go = signal()
  let hanging: { readonly promise: Promise<void>; fire(): void } | undefined
  const withHangingReads = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(calls, name) {
        const call: unknown = Reflect.get(calls, name)
        if (typeof call !== 'function' || !isRead(String(name))) return call
        return async (...given: unknown[]) => {
          await hanging?.promise
          return Reflect.apply(call, calls, given) as unknown
        }
      },
    })
  let connections = 0
  const connection = (store: Store): Store => {
    if (++connections > 1 || store.cluster === undefined) return store
    return withHangingReads({ ...store, cluster: withHangingReads(store.cluster) })
  }
  const note = (): void => done.note('two')
  const run = async (task: AgentTask): Promise<void> => {
    await task.step('one', () => done.note('one'))
    await task.park({ reason: 'so that a digest can be asked for' })
    await rest(task, go.promise, note)
  }
  const cluster = createClusterHarness({ agents: [running(run, some?.(note))], connection })
  const a = await cluster.join()
  const b = await cluster.join()
  const { id } = await a.send('go')
  await a.until(id, 'paused-by-agent')
  await a.engine.resume(alice, { taskId: id, continueTranscript: false })
  await cluster.settled()

  /** The second process does something that the first one cannot read in time. Then the first one comes to "two". */
  async function behind(change: () => Promise<unknown>): Promise<void> {
    hanging = signal()
    const changing = change()
    await cluster.pass(LEASE_MS + 2_000)
    await changing
    const leases = await cluster.store.cluster?.workers()
    expect(leases?.map(({ alive }) => alive)).toEqual([true, true])
    go.fire()
    await cluster.pass(2_000)
    expect(done.list).toEqual(['one'])
  }

  /** The first process reads what it has missed. */
  async function caughtUp(): Promise<void> {
    hanging?.fire()
    hanging = undefined
    await cluster.pass(LEASE_MS)
  }

  return { cluster, a, b, id, done, behind, caughtUp }
}

describe('a process that cannot read a hold in time', () => {
  it.each(Object.entries(kinds))(
    'C8: starts no %s of a held task after the hold was answered',
    async (_, code) => {
      const { a, b, id, done, behind, caughtUp } = await started(code)
      await behind(() => b.engine.hold(root, { scope: { all: true }, reason: 'stop' }))
      await caughtUp()
      expect(done.list).toEqual(['one'])
      expect(await a.get(id)).toMatchObject({
        state: 'paused-by-client',
        suspension: { byHold: true },
      })
    },
  )

  const holdAnother = { scope: { taskIds: ['another'] }, reason: 'stop' }

  it.each(Object.entries(kinds))(
    'goes on with the %s of another task when it has read the hold',
    async (_, code) => {
      const { a, b, id, done, behind, caughtUp } = await started(code)
      await behind(() => b.engine.hold(root, holdAnother))
      await caughtUp()
      expect(done.list).toEqual(['one', 'two'])
      expect((await a.get(id)).state).toBe('completed')
    },
  )

  it.each([
    ['pause', 'paused-by-client'],
    ['cancel', 'canceled'],
  ] as const)('obeys a %s that comes while a step waits', async (how, state) => {
    const { cluster, a, b, id, done, behind, caughtUp } = await started()
    await behind(() => b.engine.hold(root, holdAnother))
    const stopping = b.engine[how](alice, { taskId: id })
    await cluster.settled()
    await caughtUp()
    await stopping
    expect(done.list).toEqual(['one'])
    expect((await a.get(id)).state).toBe(state)
  })
})

it.each(Object.entries(kinds))(
  'a process that cannot read a new budget in time starts no %s that the budget does not allow',
  async (_, code) => {
    const { a, b, id, done, behind, caughtUp } = await started(code)
    const budget = { scope: { taskIds: [id] }, measure: 'turns', limit: 0 } as const
    await behind(() => b.engine.setBudget(root, budget))
    await caughtUp()
    expect(done.list).toEqual(['one'])
    expect(await a.get(id)).toMatchObject({
      state: 'paused-by-client',
      suspension: { byBudget: true },
    })
  },
)
