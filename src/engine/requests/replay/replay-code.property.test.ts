/**
 * Y1 and Y2 (replay-code.ts) for generated pairs of code versions: the replay says what the deployment then does. The
 * deployment is the real one: the old code stops or dies, and an engine with the new code goes on with the same store.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../../author/agent.ts'
import { agentOf, codeOf, edit, edited, shape, stop } from '../../run/test-support/code-versions.ts'
import { alice, createHarness, type Harness } from '../../test-support/engine-harness.ts'
import type { ReplayedOperation } from './code-replay.ts'
import { replayed } from './test-support/replayed.ts'

const keys = (operations: readonly ReplayedOperation[]): readonly string[] =>
  operations.map(({ key }) => key).toSorted()

/** Resumes a task that is stopped, and lets the new code go on until it stops or ends. */
async function goOn(harness: Harness, id: string): Promise<void> {
  if ((await harness.get(id)).suspension !== undefined) {
    await harness.engine.resume(alice, { taskId: id })
  }
  for (let seconds = 0; seconds < 4; seconds++) await harness.pass(1_000)
}

describe('a replay of another version of the code', () => {
  it('Y1, Y2: says what the deployment then does, and runs nothing', async () => {
    const verdicts = new Set<string>()
    const property = fc.asyncProperty(
      fc.array(shape, { minLength: 1, maxLength: 4 }),
      fc.array(edit, { maxLength: 3 }),
      stop,
      async (shapes, edits, where) => {
        const before = codeOf(shapes, where.parkAt)
        const after = edits.reduce(edited, before)
        const hangs = new Set(where.hangs.map((number) => `s${number}`))
        const old = await createHarness({ agents: [agentOf(before, hangs, [])] })
        const { id } = await old.send('go')
        await old.settled()
        fc.pre((await old.get(id)).state !== 'completed')
        const log = await old.log(id)
        const ran: string[] = []
        const agents = [agentOf(after, new Set(), ran)]
        const predicted = await replayed(agents[0] as Agent, log)
        expect(ran).toEqual([])
        expect(await old.log(id)).toEqual(log)
        verdicts.add(predicted.verdict)

        const harness = await old.recover({ agents })
        await goOn(harness, id)
        const { state, suspension } = await harness.get(id)
        const stopped = suspension?.newOperations ?? []
        if (predicted.verdict === 'stops') {
          expect(suspension?.reason).toBe('code-changed')
          const { changes = [] } = predicted
          expect(keys(changes.map(({ asked }) => asked))).toEqual(
            stopped.map(({ key }) => key).toSorted(),
          )
          expect(keys(changes.map(({ recorded }) => recorded))).toEqual(
            stopped.map(({ unclaimed }) => unclaimed).toSorted(),
          )
        } else if (predicted.verdict === 'unclear') {
          // A step with recorded operations inside it runs again. Only its function knows what it asks for.
          const inside = predicted.notCalled.filter(({ key }) =>
            predicted.goesOnFrom.some((step) => key.startsWith(`${step.key}/`)),
          )
          expect(inside).not.toEqual([])
        } else {
          expect(predicted.verdict).toBe('fits')
          expect(state).toBe('completed')
          const steps = predicted.goesOnFrom.filter(({ key }) => /^step:[sn]/.test(key))
          expect(ran).toEqual(expect.arrayContaining(steps.map(({ name }) => name.slice(6, -1))))
        }
      },
    )
    await fc.assert(property, { numRuns: 60, seed: 17 })
    expect([...verdicts].toSorted()).toEqual(['fits', 'stops', 'unclear'])
  })
})
