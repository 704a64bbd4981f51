import { expect, it } from 'vitest'
import { agent } from './agent.ts'
import { createHarness, effects } from './test-support/engine-harness.ts'

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
