/** R1 and R2 (operation-runner.ts), for random agents with parallel branches that compete for the same keys. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { Json } from '../../../core/values/json.ts'
import { createCountingIds } from '../../../testing/counting-ids.ts'
import { drive } from '../../test-support/drive.ts'
import { createHarness } from '../../test-support/engine-harness.ts'
import {
  checkPlaces,
  delays,
  randomAgent,
  randomOperations,
} from '../../test-support/random-agent.ts'
import { storeWith } from '../test-support/store-with.ts'

describe('a run rebuilt from any prefix of its log', () => {
  it('R1, R2: sees what was recorded, runs no recorded step again and comes to the same end', async () => {
    await fc.assert(
      fc.asyncProperty(randomOperations, fc.nat(), async (ops, seed) => {
        const first = randomAgent(ops, delays(seed))
        const ids = createCountingIds()
        const harness = await createHarness({ agents: [first.agent], ids })
        const { id } = await harness.send('go')
        const ended = await drive(harness, id)
        expect(ended.failure?.stack).toBeUndefined()
        const log = await harness.log(id)
        const truth = first.last()
        checkPlaces(truth.seen)

        for (let length = 2; length < log.length; length++) {
          const prefix = log.slice(0, length)
          const again = randomAgent(ops, delays(seed + length))
          const rebuilt = await createHarness({
            agents: [again.agent],
            store: await storeWith(prefix),
            clock: harness.clock,
            ids,
          })
          await rebuilt.settled()
          const end = await drive(rebuilt, id)
          expect(end.state, `from ${length} records: ${end.failure?.stack}`).toBe('completed')
          checkPlaces(again.last().seen)
          checkExecuted(prefix, again.all.begun)
          checkKeys(await rebuilt.log(id))
          expect(shapeOf(end)).toEqual(shapeOf(ended))
        }
      }),
      { numRuns: 20 },
    )
  }, 120_000)
})

function checkExecuted(
  prefix: readonly LogRecord[],
  begun: ReadonlyMap<string, readonly number[]>,
): void {
  for (const record of prefix) {
    if (record.type !== 'step' || record.result === undefined) continue
    if (typeof record.result === 'string') expect(begun.has(record.result)).toBe(false)
  }
}

/** No operation is recorded twice. */
function checkKeys(log: readonly LogRecord[]): void {
  const keys = log.flatMap((record) =>
    'key' in record && record.type !== 'attempt' ? [`${record.key}`] : [],
  )
  expect(new Set(keys).size).toBe(keys.length)
}

function shapeOf(task: Task): Json {
  return task.artifacts.map(({ name, parts }) => [name ?? '', JSON.stringify(parts)]).sort()
}
