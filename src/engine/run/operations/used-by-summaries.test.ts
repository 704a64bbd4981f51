/** What `digest` and `compact` of an agent used is counted once, also when the run is rebuilt. */
import { expect, it } from 'vitest'
import type { Store } from '../../../ports/store.ts'
import { createMemoryStore } from '../../../stores/memory/memory-store.ts'
import type { Agent } from '../../author/agent.ts'
import { alice, createHarness, running, signal } from '../../test-support/engine-harness.ts'

const usage = { inputTokens: 7, costUsd: 0.5 }

/** `compact` and `digest` of an agent, which use the same amount. */
function spending(asked: () => void): Pick<Agent, 'compact' | 'digest'> {
  return {
    compact(transcript, spend) {
      asked()
      spend(usage)
      return transcript
    },
    digest(_, spend) {
      asked()
      spend(usage)
      return 'short'
    },
  }
}

it('counts the usage of a digest and of a compaction, also over crashes', async () => {
  let asked = 0
  const worker = running(
    async (task) => {
      await task.turn((turn) => turn.record('agent', 'one'))
      await task.compact()
      await task.park({ reason: 'night' })
      await task.turn((turn) => turn.record('agent', 'two'))
      await task.ask('Go on?')
    },
    spending(() => asked++),
  )
  let harness = await createHarness({ agents: [worker] })
  const { id } = await harness.send('go')
  await harness.until(id, 'paused-by-agent')
  harness = await harness.recover()
  await harness.engine.resume(alice, { taskId: id, continueTranscript: false })
  await harness.until(id, 'input-required')
  harness = await harness.recover()
  await harness.tell(id, 'yes')
  const task = await harness.ended(id)
  expect(task.state).toBe('completed')
  expect(task.usage).toMatchObject({ inputTokens: 14, costUsd: 1 })
  expect(asked).toBe(2)
})

it('an agent whose functions report nothing has no usage', async () => {
  const worker = running(
    async (task) => {
      await task.turn((turn) => turn.record('agent', 'one'))
      await task.compact()
    },
    { compact: (transcript) => transcript },
  )
  const harness = await createHarness({ agents: [worker] })
  const { id } = await harness.send('go')
  await harness.ended(id)
  expect(await harness.types(id)).not.toContain('usage')
})

it.each(['compacted', 'turn-started'] as const)(
  'counts what a summary used when the process dies after the commit of its "%s" record',
  async (last) => {
    const inner = createMemoryStore()
    let written = (): void => undefined
    const store: Store = {
      ...inner,
      async commit(batch) {
        const results = await inner.commit(batch)
        if (batch.some(({ records }) => records.some(({ type }) => type === last))) written()
        return results
      },
    }
    let asked = 0
    const worker = running(
      async (task) => {
        await task.park({ reason: 'night' })
        if (last === 'compacted') await task.compact()
        else await task.turn(() => undefined)
      },
      spending(() => asked++),
    )
    const first = await createHarness({ agents: [worker], store })
    const { id } = await first.send('go')
    await first.until(id, 'paused-by-agent')
    const { promise: died, fire } = signal()
    written = () => {
      first.crash()
      fire()
    }
    await first.engine.resume(alice, { taskId: id, continueTranscript: false })
    await died
    const second = await first.recover({ store: inner })
    expect(await second.ended(id)).toMatchObject({ state: 'completed', usage })
    expect(asked).toBe(1)
  },
)

it('counts a digest that a pause made useless, also when the run is rebuilt', async () => {
  const [digesting, go] = [signal(), signal()]
  let asked = 0
  const worker = running(
    async (task) => {
      await task.park({ reason: 'night' })
      await task.turn(async (turn) => turn.record('agent', await task.step('work', () => 'one')))
      await task.step('after', () => 1)
    },
    {
      async digest(_, spend) {
        asked++
        digesting.fire()
        await go.promise
        spend(usage)
        return 'short'
      },
    },
  )
  const first = await createHarness({ agents: [worker] })
  const { id } = await first.send('go')
  await first.until(id, 'paused-by-agent')
  await first.engine.resume(alice, { taskId: id, continueTranscript: false })
  await digesting.promise
  const paused = first.engine.pause(alice, { taskId: id, mode: 'finish_step' })
  await first.settled()
  go.fire()
  await paused
  await first.until(id, 'paused-by-client')
  const second = await first.recover()
  await second.engine.resume(alice, { taskId: id, continueTranscript: false })
  expect(await second.ended(id)).toMatchObject({
    state: 'completed',
    usage: { inputTokens: 7 * asked, costUsd: 0.5 * asked },
  })
  expect(asked).toBe(2)
})
