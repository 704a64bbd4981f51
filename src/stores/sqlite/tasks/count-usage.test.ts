import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { State } from '../../../core/states.ts'
import type { Commit, TaskRow } from '../../../ports/store/tasks.ts'
import { creation, poison, sampleRow, step } from '../../../testing/sample-task.ts'
import { pruneTasks } from '../../../testing/store-contract/subject.ts'
import { createDatabaseStore } from '../database-store.ts'
import { loadDriver } from '../files/driver.ts'
import { migrate, readMigrations } from '../migrate.ts'

const open = await loadDriver()

const counted = `SELECT tenant, principal, tasks, open_tasks, bytes FROM usage
  WHERE tasks <> 0 OR open_tasks <> 0 OR bytes <> 0 ORDER BY tenant, principal`

/** What the totals must be, by the rows that are stored. */
const stored = `SELECT tenant, principal, count(*) AS tasks,
    sum(state NOT IN ('completed', 'failed', 'canceled', 'rejected')) AS open_tasks,
    sum((SELECT sum(length(CAST(body AS BLOB))) FROM records
         WHERE task = num OR (pos = num AND task IS NULL))) AS bytes
  FROM tasks GROUP BY tenant, principal ORDER BY tenant, principal`

/** Principals whose names run into each other when they are joined. */
const owners = [
  { tenant: 'a', principal: 'bc' },
  { tenant: 'ab', principal: 'c' },
  { tenant: 'é', principal: '' },
] as const

const state = fc.constantFrom<State>('working', 'paused-by-agent', 'completed', 'failed')
const number = fc.nat({ max: 5 })
const act = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), number, state }),
  fc.record({ kind: fc.constant('step' as const), number, late: fc.boolean() }),
  fc.record({ kind: fc.constant('move' as const), number, state }),
  fc.record({ kind: fc.constantFrom('poison' as const, 'refused' as const), number }),
)

it('counts in a batch what a count of the stored rows gives, whatever is refused or removed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(act, { maxLength: 6 }), { maxLength: 6 }),
      async (batches) => {
        const db = open(':memory:')
        migrate(db, readMigrations(), 0)
        const store = createDatabaseStore(db, () => undefined)
        const versions = new Map<string, number>()
        for (const batch of batches) {
          const commits = batch.map((one) => commitOf(one, versions))
          const results = await store.commit(commits)
          results.forEach(({ status }, index) => {
            const { taskId, expected, records } = commits[index] as Commit
            if (status === 'written') versions.set(taskId, expected + records.length)
          })
          expect(db.prepare(counted).all()).toEqual(db.prepare(stored).all())
        }
        await pruneTasks(store, 5_000)
        expect(db.prepare(counted).all()).toEqual(db.prepare(stored).all())
        await store.close()
      },
    ),
    { numRuns: 60 },
  )
})

function commitOf(
  one: typeof act extends fc.Arbitrary<infer T> ? T : never,
  versions: ReadonlyMap<string, number>,
): Commit {
  const id = `task-${one.number}`
  const version = versions.get(id) ?? 0
  const owner = owners[one.number % owners.length]
  switch (one.kind) {
    case 'create':
      return creation(id, { ...owner, state: one.state })
    case 'step':
      return step(id, one.late ? version + 1 : version)
    case 'move':
      return step(id, version, { row: sampleRow(id, { ...owner, state: one.state }) })
    case 'poison':
      return poison(id, version)
    case 'refused':
      // SQLite refuses it after it was encoded, so the batch is written again one by one.
      return creation(`new-${id}`, { tenant: undefined } as unknown as TaskRow)
  }
}
