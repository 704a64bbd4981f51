import { expect, it } from 'vitest'
import { agent } from './agent.ts'
import { alice, createHarness, effects, signal } from './test-support/engine-harness.ts'

it('agents are closed after their tasks have stopped, and one that fails does not keep the others', async () => {
  const seen = effects()
  const broken = agent({
    name: 'broken',
    description: 'x',
    run: () => undefined,
    close: () => {
      throw new Error('no')
    },
  })
  const worker = agent({
    name: 'worker',
    description: 'x',
    run: (task) => task.step('work', () => seen.note('worked')),
    close: async () => seen.note('closed'),
  })
  const harness = await createHarness({ agents: [worker, broken] })
  await harness.ended((await harness.send('go')).id)
  await harness.engine.drain()
  expect(seen.list).toEqual(['worked', 'closed'])
})

/** Agents of one name that note when they are closed. Their task waits for `release`, and then parks. */
function versions() {
  const seen = effects()
  const release = signal()
  const version = (name: string) =>
    agent({
      name: 'worker',
      description: 'x',
      async run(task) {
        await task.step('work', () => release.promise.then(() => seen.note(`${name} worked`)))
        await task.park({ reason: 'wait' })
      },
      close: () => seen.note(`${name} closed`),
    })
  return { seen, release, version }
}

it('AT1: a replaced agent without a run is closed at once, and not again when the engine stops', async () => {
  const { seen, version } = versions()
  const harness = await createHarness({ agents: [version('old')] })
  await harness.engine.replaceAgents([version('new')])
  expect(seen.list).toEqual(['old closed'])
  await harness.engine.drain()
  expect(seen.list).toEqual(['old closed', 'new closed'])
})

it('AT1: a replaced agent is closed when its last run has left memory', async () => {
  const { seen, release, version } = versions()
  const options = { warmForMs: 1_000 }
  const harness = await createHarness({ agents: [version('old')], options })
  const { id } = await harness.send('go')
  await harness.settled()
  await harness.engine.replaceAgents([version('new')])
  release.fire()
  await harness.until(id, 'paused-by-agent')
  await harness.settled()
  expect(seen.list).toEqual(['old worked'])
  await harness.pass(2_000)
  expect(seen.list).toEqual(['old worked', 'old closed'])
  await harness.engine.resume(alice, { taskId: id })
  await harness.ended(id)
})

it('AT1: a replaced agent whose run does not end is closed when the engine stops', async () => {
  const { seen, version } = versions()
  const harness = await createHarness({ agents: [version('old')] })
  await harness.send('go')
  await harness.settled()
  await harness.engine.replaceAgents([version('new')])
  expect(seen.list).toEqual([])
  const draining = harness.engine.drain({ timeoutMs: 0 })
  await harness.pass(10_000)
  await draining
  expect([...seen.list].sort()).toEqual(['new closed', 'old closed'])
})

it('AT2: an agent that is given again is not closed', async () => {
  const { seen, version } = versions()
  const same = version('same')
  const harness = await createHarness({ agents: [same] })
  await harness.send('go')
  await harness.settled()
  await harness.engine.replaceAgents([version('other')])
  await harness.engine.replaceAgents([same])
  await harness.engine.replaceAgents([same])
  expect(seen.list).toEqual(['other closed'])
})
