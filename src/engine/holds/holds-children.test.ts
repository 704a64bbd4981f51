import { describe, expect, it } from 'vitest'
import { createHarness, running } from '../test-support/engine-harness.ts'

const root = { tenant: '*', principal: 'root', operator: true }

describe('a child that is created while the hold of its parent is lifted', () => {
  it('is not left held by it', async () => {
    const agent = running(async (task) => {
      const depth = Number(task.text)
      if (depth === 0) return
      await (await task.delegate('worker', String(depth - 1))).result()
    })
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn++) await new Promise((go) => setImmediate(go))
    }
    for (let moment = 0; moment < 32; moment++) {
      const harness = await createHarness({ agents: [agent], options: { warmForMs: 0 } })
      const { id } = await harness.send('2')
      await turns(moment % 8)
      const { holdId } = await harness.engine.hold(root, { scope: { all: true }, reason: 'x' })
      await turns(Math.floor(moment / 8))
      await harness.engine.lift(root, holdId)
      await harness.settled()
      expect((await harness.get(id)).state).toBe('completed')
    }
  })
})
