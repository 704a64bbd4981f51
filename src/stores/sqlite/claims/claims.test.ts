import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Claim, ClaimKey } from '../../../ports/store/claims.ts'
import type { Store } from '../../../ports/store.ts'
import { creation, poison, sampleClaim } from '../../../testing/sample-task.ts'
import { createDatabaseStore, type DatabaseStore } from '../database-store.ts'
import { type Database, loadDriver } from '../files/driver.ts'
import { migrate, readMigrations } from '../migrate.ts'
import { createClaimFilter } from './claim-filter.ts'
import { placeOf, RUN } from './claim-index.ts'

const open = await loadDriver()

function memoryDatabase(): Database {
  const db = open(':memory:')
  migrate(db, readMigrations(), 0)
  return db
}

/** A store as the next process opens it. The database stays open. */
function reopened(db: Database): DatabaseStore {
  const filter = createClaimFilter(db)
  onTestFinished(filter.close)
  return createDatabaseStore(db, () => undefined, filter)
}

function claimOf(n: number): Claim {
  return sampleClaim(`task-${n}`, { key: `key-${n}`, createdAt: n })
}

function otherThan(key: ClaimKey): ClaimKey {
  return { ...key, key: `${key.key}-other` }
}

/** Creates `count` tasks with a claim each, numbered from `first` on. */
async function claimMany(store: Store, first: number, count: number): Promise<void> {
  const creations = Array.from({ length: count }, (_, n) =>
    creation(`task-${first + n}`, {}, { claim: claimOf(first + n) }),
  )
  for (const { status } of await store.commit(creations)) expect(status).toBe('written')
}

function places(db: Database): readonly unknown[] {
  return db.prepare('SELECT run, count(*) AS n FROM claim_places GROUP BY run').all()
}

describe('claims', () => {
  it('are found, and stay taken, after many later claims and in the next process', async () => {
    const db = memoryDatabase()
    const first = reopened(db)
    await claimMany(first, 0, RUN - 1)
    await claimMany(first, RUN - 1, RUN + 5)
    expect(places(db)).toEqual([
      { run: 0, n: RUN - 1 },
      { run: 1, n: RUN },
    ])
    for (const store of [first, reopened(db)]) {
      for (const n of [0, 1, RUN - 1, RUN, 2 * RUN, 2 * RUN + 3]) {
        expect(await store.findClaim(claimOf(n))).toEqual(claimOf(n))
        const late = { ...claimOf(n), taskId: 'late' }
        expect(await store.claim(late)).toEqual(claimOf(n))
        expect(await store.commit([creation('late', {}, { claim: late })])).toEqual([
          { status: 'claimed', claim: claimOf(n) },
        ])
      }
      expect(await store.findClaim(claimOf(2 * RUN + 4))).toBeUndefined()
    }
  })

  it('are sorted again where the commit that began the next run was undone', async () => {
    const db = memoryDatabase()
    const store = reopened(db)
    await claimMany(store, 0, RUN - 2)
    db.exec(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON tasks BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    const creations = [RUN - 2, RUN - 1, RUN].map((n) =>
      creation(`task-${n}`, {}, { claim: claimOf(n) }),
    )
    const statuses = (await store.commit(creations)).map(({ status }) => status)
    expect(statuses).toEqual(['failed', 'failed', 'failed'])
    expect(places(db)).toEqual([])
    db.exec('DROP TRIGGER refuse')
    await claimMany(store, RUN - 2, 3)
    expect(places(db)).toEqual([{ run: 0, n: RUN - 1 }])
    for (const n of [0, RUN - 2, RUN]) expect(await store.findClaim(claimOf(n))).toEqual(claimOf(n))
  })

  it('never take the position of a removed one in a run that is sorted', async () => {
    const db = memoryDatabase()
    const store = reopened(db)
    await claimMany(store, 0, RUN)
    // Removes all claims but the first one, which has the latest time.
    db.exec('UPDATE claims SET created_at = 99999 WHERE pos = 1')
    expect(await store.pruneClaims(RUN, RUN)).toBe(RUN - 1)
    const next = reopened(db)
    await claimMany(next, RUN, 3)
    for (const n of [0, RUN, RUN + 2]) expect(await next.findClaim(claimOf(n))).toBeDefined()
    expect(await next.findClaim(claimOf(RUN - 1))).toBeUndefined()
  })

  it('leave no places behind once the whole run is gone', async () => {
    const db = memoryDatabase()
    const store = reopened(db)
    await claimMany(store, 0, RUN + 9)
    expect(await store.pruneClaims(RUN + 2, 9 * RUN)).toBe(RUN + 2)
    expect(places(db)).toEqual([])
    expect(await store.findClaim(claimOf(RUN + 1))).toBeUndefined()
    expect(await store.findClaim(claimOf(RUN + 2))).toBeDefined()
  })

  it('are removed past those of a clock that was set back since', async () => {
    const store = reopened(memoryDatabase())
    await store.claim({ ...claimOf(1), createdAt: 5_000 })
    await claimMany(store, 2, 3)
    expect(await store.pruneClaims(4, 1)).toBe(1)
    expect(await store.pruneClaims(4, 9)).toBe(1)
    expect(await store.findClaim(claimOf(1))).toBeDefined()
    expect(await store.findClaim(claimOf(3))).toBeUndefined()
    expect(await store.findClaim(claimOf(4))).toBeDefined()
  })
})

describe('claims of a clock that was ahead', () => {
  it('keep none that is old from being removed, however many they are', async () => {
    const db = memoryDatabase()
    const store = reopened(db)
    await claimMany(store, 0, 9_000)
    db.exec('UPDATE claims SET created_at = 99999 WHERE pos <= 6000')
    let removed = 0
    for (let call = 0; call < 10; call++) removed += await store.pruneClaims(8_000, 500)
    expect(removed).toBe(2_000)
    expect(await store.findClaim(claimOf(7_999))).toBeUndefined()
    expect(await store.findClaim(claimOf(8_000))).toBeDefined()
  })
})

describe('the filter of claims', () => {
  it('grows before it is full, and loses no claim meanwhile', async () => {
    const db = memoryDatabase()
    await claimMany(reopened(db), 0, 100)
    const filter = createClaimFilter(db, { leastLog2: 8, mostLog2: 12 })
    onTestFinished(filter.close)
    const claimed: Claim[] = []
    // Added before it is written. A larger filter is filled from the table.
    function claimNext(): void {
      const pos = 1_000 + claimed.length
      const claim = claimOf(pos)
      filter.add(claim)
      claimed.push(claim)
      db.exec(`INSERT INTO claims VALUES (${pos}, '${placeOf(claim)}', 't', '', 0, NULL)`)
    }
    for (let n = 0; n < 3_000; n++) claimNext()
    const others = claimed.map(otherThan)
    const wronglyFound = (): number => {
      claimNext()
      return others.filter(filter.has).length
    }
    await expect.poll(wronglyFound).toBeLessThan(100)
    expect(claimed.every(filter.has)).toBe(true)
    expect(filter.has(claimOf(7))).toBe(true)
  })

  it('does not lose the key that makes it grow, which is not written yet', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const db = memoryDatabase()
    const filter = createClaimFilter(db, { leastLog2: 4, mostLog2: 12 })
    onTestFinished(filter.close)
    for (let pos = 1; pos < 1_000; pos++) {
      const claim = claimOf(pos)
      filter.add(claim)
      vi.advanceTimersByTime(1_000)
      expect(filter.has(claim)).toBe(true)
      db.exec(`INSERT INTO claims VALUES (${pos}, '${placeOf(claim)}', 't', '', 0, NULL)`)
    }
  })

  it('knows every claim of an earlier process, and hardly a key nobody claimed', async () => {
    const db = memoryDatabase()
    const count = 3_000
    await claimMany(reopened(db), 0, count)
    const filter = createClaimFilter(db)
    onTestFinished(filter.close)
    const claimed = Array.from({ length: count }, (_, n) => claimOf(n))
    const others = claimed.map(otherThan)
    // Before all claims are read, every key counts as possibly claimed.
    expect(others.every(filter.has)).toBe(true)
    await expect.poll(() => others.filter(filter.has).length).toBeLessThan(30)
    expect(claimed.every(filter.has)).toBe(true)
    expect(filter.add(claimOf(count))).toBe(false)
    expect(filter.has(claimOf(count))).toBe(true)
  })

  it('knows a claim of an earlier process whatever characters its key is made of', async () => {
    const db = memoryDatabase()
    const claimed = ['a\nb', '\0', '\x7f000a', '\ud800', 'é✈'].flatMap((odd, n) => [
      sampleClaim(`task-${n}`, { key: odd }),
      sampleClaim(`task-of-${n}`, { tenant: odd, agent: odd }),
    ])
    for (const claim of claimed) await reopened(db).claim(claim)
    const filter = createClaimFilter(db)
    onTestFinished(filter.close)
    await expect.poll(() => claimed.map(otherThan).some(filter.has)).toBe(false)
    expect(claimed.every(filter.has)).toBe(true)
  })

  it('lets a key through that was not written after all', async () => {
    const store = reopened(memoryDatabase())
    const bad = { ...poison('task-1', 0), row: creation('task-1').row, claim: claimOf(1) }
    expect(await store.commit([bad as never])).toMatchObject([{ status: 'failed' }])
    expect(await store.findClaim(claimOf(1))).toBeUndefined()
    await claimMany(store, 1, 1)
    expect(await store.findClaim(claimOf(1))).toEqual(claimOf(1))
  })
})
