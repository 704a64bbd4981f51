import { expect, it } from 'vitest'
import { alice, createHarness, effects, message, signal } from '../test-support/engine-harness.ts'
import { agent } from './agent.ts'
import { createAgentTable } from './agent-table.ts'

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

/** Agents of one name whose `receive` waits for `release`. */
function receivers() {
  const seen = effects()
  const [asked, release] = [signal(), signal()]
  const version = (name: string) =>
    agent({
      name: 'worker',
      description: 'x',
      async receive(_, { reply }) {
        asked.fire()
        await release.promise
        seen.note(`${name} received`)
        return reply('yes')
      },
      close: () => seen.note(`${name} closed`),
    })
  return { seen, asked, release, version }
}

it('AT1: a replaced agent is closed after the message that it is receiving', async () => {
  const { seen, asked, release, version } = receivers()
  const harness = await createHarness({ agents: [version('old')] })
  const sending = harness.engine.send(alice, { message: message('go') })
  await asked.promise
  await harness.engine.replaceAgents([version('new')])
  await harness.settled()
  expect(seen.list).toEqual([])
  release.fire()
  expect(await sending).toMatchObject({
    kind: 'message',
    message: { parts: [{ text: 'yes' }] },
  })
  expect(seen.list).toEqual(['old received', 'old closed'])
})

it('AT1: a replaced agent is closed after all other work that uses it, also work that fails', async () => {
  const { seen, version } = versions()
  const old = version('old')
  const table = createAgentTable([old], () => undefined)
  const [first, second] = [signal(), signal()]
  const failing = table.during(old, () => first.promise.then(() => Promise.reject(new Error('no'))))
  const working = table.during(old, () => second.promise)
  table.replace([version('new')])
  first.fire()
  await expect(failing).rejects.toThrow('no')
  expect(seen.list).toEqual([])
  second.fire()
  await working
  expect(seen.list).toEqual(['old closed'])
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
