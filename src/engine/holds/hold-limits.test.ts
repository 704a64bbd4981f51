import { expect, it } from 'vitest'
import type { Caller } from '../caller.ts'
import { createHarness, olga } from '../test-support/engine-harness.ts'
import { keywordAgent } from '../test-support/keyword-agent.ts'

const root: Caller = { tenant: '*', principal: 'root', operator: true, ofAllTenants: true }

it('refuses one hold more than the operators of a tenant may have, until one is lifted', async () => {
  const { engine } = await createHarness({ agents: [keywordAgent], options: { holds: 2 } })
  const hold = (caller: Caller, taskId: string) =>
    engine.hold(caller, { scope: { taskIds: [taskId] }, reason: 'audit' })
  const { holdId } = await hold(olga, 'one')
  await hold({ ...olga, principal: 'oscar' }, 'two')
  const limit = 'holds of the tenant'
  await expect(hold(olga, 'three')).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { limit, value: 2 },
  })
  // The same hold again is no further one, and other operators have room of their own.
  expect((await hold(olga, 'one')).holdId).toBe(holdId)
  await hold(root, 'three')
  await engine.lift(olga, holdId)
  await hold(olga, 'three')
  expect(await engine.holds(olga)).toHaveLength(2)
})

it('refuses a hold with more ids than the holds of a tenant may name, but not one that names none', async () => {
  const { engine, store } = await createHarness({
    agents: [keywordAgent],
    options: { heldTaskIds: 5 },
  })
  const hold = (taskIds: readonly string[]) =>
    engine.hold(olga, { scope: { taskIds }, reason: 'audit' })
  await hold(['a', 'b', 'c'])
  await expect(hold(['d', 'e', 'f'])).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { limit: 'heldTaskIds of the tenant', value: 5 },
  })
  expect(await store.holds(true)).toHaveLength(1)
  await hold(['d', 'e'])
  await engine.hold(olga, { scope: { all: true }, reason: 'panic' })
})
