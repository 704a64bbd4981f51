/** What the first paint of the board costs, with few tasks and with 100,000. */
import { expect, it } from 'vitest'
import { states } from '../../core/states.ts'
import { createEngine } from '../../engine/engine.ts'
import type { Commit } from '../../ports/store/tasks.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createCountingIds } from '../../testing/counting-ids.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { sampleMessage, sampleRow } from '../../testing/sample-task.ts'
import { testSigner } from '../../testing/test-signer.ts'
import { listTasks } from './tasks.ts'

const operator = { tenant: 'acme', principal: 'ops', operator: true as const }

/** The first and only commit of a task that was canceled. */
function canceled(number: number): Commit {
  const id = `task-${number}`
  const at = 1_000 + number
  const row = sampleRow(id, { state: 'canceled', createdAt: at, statusAt: at })
  const { tenant, principal, agent, contextId } = row
  const message = sampleMessage(`request ${number} ${'x'.repeat(100)}`)
  const submission = { taskId: id, tenant, principal, agent, contextId, message, eventsAfter: 0 }
  const actor = { kind: 'client' as const, id: 'ann' }
  return {
    tenant,
    taskId: id,
    expected: 0,
    row,
    records: [
      { type: 'submitted', ...submission, seq: 1, at },
      { type: 'canceled', actor, seq: 2, at },
    ],
  }
}

/** Counts the calls that read the store. */
async function filled(count: number) {
  const store = createMemoryStore()
  for (let from = 0; from < count; from += 1_000) {
    await store.commit(Array.from({ length: 1_000 }, (_, index) => canceled(from + index)))
  }
  const calls: Record<string, number> = {}
  const counted = new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1
        return Reflect.apply(member, target, given)
      }
    },
  })
  const engine = createEngine({
    store: counted,
    agents: [],
    clock: createManualClock(),
    ids: createCountingIds(),
    signer: testSigner,
    log: () => undefined,
    memory: { usedBytes: () => 0 },
  })
  return { engine, calls }
}

/** As the board asks: one page for each of its columns, with counts once. */
async function firstPaint(count: number) {
  const { engine, calls } = await filled(count)
  let bytes = 0
  const columns = ['canceled', 'working', 'paused-by-agent', 'input-required', 'completed']
  for (const [index, wanted] of columns.entries()) {
    const counts = String(index === 0)
    const query = new URLSearchParams({ state: wanted, limit: '50', counts })
    const request = {
      id: '',
      query,
      body: undefined,
      anyTenant: false,
      scopes: new Set<never>(),
      now: 0,
    }
    bytes += JSON.stringify(await listTasks.handle(engine, operator, request)).length
  }
  return { calls, bytes }
}

it('makes the same number of queries with 100,000 tasks as with 1,000, and no larger answer', async () => {
  const few = await firstPaint(1_000)
  const many = await firstPaint(100_000)
  expect(many.calls).toEqual(few.calls)
  expect(many.calls).toEqual({ list: 5, count: 5 + states.length, load: 50 })
  expect(Math.abs(many.bytes - few.bytes)).toBeLessThan(1_000)
  expect(many.bytes).toBeLessThan(50_000)
})
