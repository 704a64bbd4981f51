/** R2 (operation-runner.ts): results are released in the order of the log, also where something follows a record. */
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import type { AgentDefinition } from '../../author/agent.ts'
import type { AgentTask } from '../../author/agent-task.ts'
import type { Caller } from '../../caller.ts'
import { alice, createHarness, running, signal } from '../../test-support/engine-harness.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true }
const budget = { scope: { tenant: 'acme' }, measure: 'tokens', limit: 1_000_000 } as const

/** A store that answers `spent` only while nothing holds it. */
function holdingStore() {
  const store = createMemoryStore()
  let held = signal()
  held.fire()
  const holding: Store = {
    ...store,
    async spent(ids) {
      await held.promise
      return store.spent(ids)
    },
  }
  return {
    store: holding,
    hold: () => {
      held = signal()
    },
    answer: () => held.fire(),
  }
}

type Branch = (task: AgentTask) => Promise<unknown>

/** Later ones are recorded after whatever the other branch does. */
async function sayAll(task: AgentTask, mine: string[]): Promise<void> {
  for (const text of ['one', 'two', 'three', 'four']) {
    await task.say(text)
    mine.push(text)
  }
}

/** The order in which the results of two branches came: live, while the budgets answer late, and in a rebuilt run. */
async function orders(
  first: Branch,
  some: Partial<AgentDefinition> = {},
): Promise<readonly (readonly string[])[]> {
  const seen: string[][] = []
  const { store, hold, answer } = holdingStore()
  const agent = running(async (task) => {
    await task.park({ reason: 'before' })
    const mine: string[] = []
    if (seen.push(mine) === 1) hold()
    await Promise.all([first(task).then(() => mine.push('first')), sayAll(task, mine)])
    await task.park({ reason: 'after' })
  }, some)
  const harness = await createHarness({ agents: [agent], store, options: { warmForMs: 0 } })
  await harness.engine.setBudget(root, budget)
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
  await harness.settled()
  answer()
  await harness.until(id, ({ epoch, state }) => epoch === 2 && state === 'paused-by-agent')
  await harness.engine.resume(alice, { taskId: id })
  expect((await harness.ended(id)).failure?.stack).toBeUndefined()
  return seen
}

describe('a result that a check of budgets follows', () => {
  async function expectInOrder(first: Branch, some?: Partial<AgentDefinition>): Promise<void> {
    const [live = [], rebuilt] = await orders(first, some)
    expect(live).toHaveLength(5)
    expect(live.at(-1)).toBe('four')
    expect(rebuilt).toEqual(live)
  }

  it('R2: of a report of usage comes before later ones, live as in a rebuilt run', async () => {
    await expectInOrder((task) => task.usage({ inputTokens: 1 }))
  })

  it('R2: of a turn whose digest has used tokens does, too', async () => {
    const opened: Branch = (task) => new Promise((open) => task.turn(() => open(undefined)))
    const digest: AgentDefinition['digest'] = (_, spend) => {
      spend({ inputTokens: 1 })
      return 'short'
    }
    await expectInOrder(opened, { digest })
  })

  it('R2: of a compaction that has used tokens does, too', async () => {
    const compact: AgentDefinition['compact'] = (_, spend) => {
      spend({ inputTokens: 1 })
      return []
    }
    await expectInOrder((task) => task.compact(), { compact })
  })
})

describe('a value that the code has read', () => {
  it('is the same after the task was evicted while it waits for a child', async () => {
    const read: string[] = []
    let childId = ''
    const parent = running(async (task) => {
      const child = await task.delegate('child', 'x')
      childId = child.id
      read.push(task.uuid())
      await child.result()
    })
    const child = running(async (task) => void (await task.park({ reason: 'x' })), {
      name: 'child',
    })
    const harness = await createHarness({ agents: [parent, child], options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.settled()
    await harness.engine.resume(alice, { taskId: childId })
    await harness.ended(id)
    expect(read).toHaveLength(2)
    expect(read[1]).toBe(read[0])
  })

  it('is the same after the task was paused at once and evicted', async () => {
    const read: string[] = []
    const again = signal()
    const agent = running(async (task) => {
      const flaky = task.step(
        'flaky',
        ({ attempt }) => {
          if (attempt === 1) throw new Error('not yet')
        },
        { retry: { attempts: 1, backoffMs: 1_000 } },
      )
      await task.say('x')
      await again.promise
      read.push(task.uuid())
      await flaky
    })
    const harness = await createHarness({ agents: [agent], options: { warmForMs: 0 } })
    const { id } = await harness.send('go')
    await harness.settled()
    again.fire()
    await harness.settled()
    await harness.engine.pause(alice, { taskId: id })
    await harness.until(id, 'paused-by-client')
    await harness.engine.resume(alice, { taskId: id })
    await harness.pass(2_000)
    await harness.ended(id)
    expect(read).toHaveLength(2)
    expect(read[1]).toBe(read[0])
  })
})
