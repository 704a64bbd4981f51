/** R1 and R2 (core.ts), for random agents with parallel branches that compete for the same keys. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/json.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { TaskStore } from '../../ports/task-store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { fold } from '../../core/evolve.ts'
import { rowOf } from '../row.ts'
import { drive } from '../test-support/drive.ts'
import { interpreter, program } from '../test-support/program.ts'
import { createWorld } from '../test-support/world.ts'

/** A store that holds the first records of a log, as a process that died there would have left it. */
async function storeWith(records: readonly LogRecord[]): Promise<TaskStore> {
  const store = createMemoryStore()
  const task = fold(records) as Task
  await store.commit([{ taskId: task.id, expected: 0, records, row: rowOf(task) }])
  return store
}

const random = (seed: number) => (place: string, run: number): number => {
  let hash = seed + run * 7919
  for (const character of place) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0
  return Math.abs(hash) % 4
}

describe('a run rebuilt from any prefix of its log', () => {
  it('sees what was recorded, runs no recorded step again and comes to the same end', async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.nat(), async (ops, seed) => {
        const first = interpreter(ops, random(seed))
        const world = await createWorld({ agents: [first.agent] })
        const { id } = await world.send('go')
        const ended = await drive(world, id)
        expect(ended.failure?.stack).toBeUndefined()
        const log = await world.log(id)
        const truth = first.last()
        checkPlaces(truth.seen)

        for (let length = 2; length < log.length; length++) {
          const prefix = log.slice(0, length)
          const again = interpreter(ops, random(seed + length))
          const rebuilt = await createWorld({
            agents: [again.agent],
            store: await storeWith(prefix),
            clock: world.clock,
          })
          await rebuilt.settled()
          const end = await drive(rebuilt, id)
          expect(end.state, `from ${length} records: ${end.failure?.stack}`).toBe('completed')
          checkPlaces(again.last().seen)
          checkRecorded(prefix, truth.seen, again.last().seen)
          checkExecuted(prefix, again.all.begun)
          checkKeys(await rebuilt.log(id))
          expect(shapeOf(end)).toEqual(shapeOf(ended))
        }
      }),
      { numRuns: 40 },
    )
  }, 120_000)
})

/** A step, tool, park or question gave what belongs to its own place, never what another branch was given. */
function checkPlaces(seen: ReadonlyMap<string, Json>): void {
  for (const [place, value] of seen) {
    if (typeof value === 'string' && value.startsWith('/')) expect(value).toBe(place)
    if (typeof value === 'string' && value.startsWith('RangeError')) {
      expect(value).toBe(`RangeError: ${place}`)
    }
    if (typeof value === 'string' && value.startsWith('to ')) expect(value).toContain(`"${place}"`)
    if (Array.isArray(value)) {
      expect(value).toEqual(value.map((_, index) => `${place}.${index}`))
    }
    if (value !== null && typeof value === 'object' && 'to' in value) {
      expect(value).toEqual({ to: place })
    }
  }
}

/** Values that were recorded are seen again in the same place. */
function checkRecorded(
  prefix: readonly LogRecord[],
  before: ReadonlyMap<string, Json>,
  after: ReadonlyMap<string, Json>,
): void {
  const values = new Set(
    prefix.flatMap((record) => (record.type === 'value' ? [record.value] : [])),
  )
  for (const [place, value] of before) {
    if (typeof value === 'string' && values.has(value)) expect(after.get(place)).toBe(value)
  }
}

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
