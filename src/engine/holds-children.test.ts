import { describe, expect, it } from 'vitest'
import { createWorld, running } from './test-support/world.ts'

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
      const world = await createWorld({ agents: [agent], options: { warmForMs: 0 } })
      const { id } = await world.send('2')
      await turns(moment % 8)
      const { holdId } = await world.engine.hold(root, { scope: { all: true }, reason: 'x' })
      await turns(Math.floor(moment / 8))
      await world.engine.lift(root, holdId)
      await world.settled()
      expect((await world.get(id)).state).toBe('completed')
    }
  })
})
