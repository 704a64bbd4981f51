/** Tests D1 to D4 of `ports/store.ts`. */
import type { LogRecord } from '../../core/records.ts'
import type { Commit, CommitFailure } from '../../ports/store/tasks.ts'
import { creation, poison, sampleClaim, sampleRow, sampleSnapshot, step } from '../sample-task.ts'
import type { Subject } from './subject.ts'

const written = { status: 'written' }

/**
 * Enough for a message of 10 MiB, the largest that a server accepts by default, and the record
 * around it.
 */
const LARGE_BYTES = 12 * 2 ** 20
const TOO_LARGE_BYTES = 32 * 2 ** 20

export function commits(subject: Subject): void {
  const { it, expect } = subject.kit
  conflicts(subject)
  atomicity(subject)
  batches(subject)
  sizesAndShapes(subject)
  logs(subject)

  it('D1: keeps what it reported as written across a restart', async () => {
    const { store } = subject
    await store.commit([
      creation('task-1', { waits: ['build.done'], dueAt: 50 }),
      creation('task-2'),
    ])
    await store.commit([
      step('task-1', 2),
      step('task-2', 2, { snapshot: sampleSnapshot('task-2', 3) }),
    ])
    const [one, two] = [await store.load('acme', 'task-1'), await store.load('acme', 'task-2')]
    const list = await store.list({ limit: 9 })

    const again = await subject.reopen()

    expect(await again.load('acme', 'task-1')).toEqual(one)
    expect(await again.load('acme', 'task-2')).toEqual(two)
    expect(await again.list({ limit: 9 })).toEqual(list)
    expect(await again.waiting('acme', ['build.done'], '', 9)).toEqual(['task-1'])
    expect(await again.commit([step('task-1', 3)])).toEqual([written])
  })

  it('refuses everything once it is closed, and closes twice without complaint', async () => {
    const { store } = subject
    await store.close()
    await store.close()
    await expect(store.commit([creation('task-1')])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    await expect(store.load('acme', 'task-1')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('says that it can write', async () => {
    await expect(subject.store.check()).resolves.toBeUndefined()
  })
}

function conflicts(subject: Subject): void {
  const { it, expect } = subject.kit
  it('D3: refuses a commit that does not follow the version, and says which one the task has', async () => {
    const { store } = subject
    await store.commit([creation('task-1')])
    const before = await store.load('acme', 'task-1')

    expect(
      await store.commit([
        step('task-1', 1),
        step('task-1', 3),
        creation('task-1'),
        step('task-2', 4),
      ]),
    ).toEqual([
      { status: 'conflict', version: 2 },
      { status: 'conflict', version: 2 },
      { status: 'conflict', version: 2 },
      { status: 'conflict', version: 0 },
    ])

    expect(await store.load('acme', 'task-1')).toEqual(before)
    expect(await store.load('acme', 'task-2')).toBeUndefined()
  })

  it('D2: writes nothing of a refused commit: no row, no waits, no snapshot, no claim', async () => {
    const { store } = subject
    const row = { state: 'paused-by-agent', waits: ['build.done'], dueAt: 5 } as const
    await store.commit([creation('task-1')])
    const stale = {
      row: sampleRow('task-1', row),
      snapshot: sampleSnapshot('task-1', 2),
      claim: sampleClaim('task-1'),
    }
    await store.commit([step('task-1', 1, stale), creation('task-1', row, stale)])

    expect(await store.list({ limit: 9 })).toEqual([sampleRow('task-1')])
    expect(await store.waiting('acme', ['build.done'], '', 9)).toEqual([])
    expect(await store.due(100, 9)).toEqual([])
    expect(await store.load('acme', 'task-1')).not.toHaveProperty('snapshot')
    expect(await store.findClaim(sampleClaim('task-1'))).toBeUndefined()
  })
}

function atomicity(subject: Subject): void {
  const { it, expect } = subject.kit
  it('D3, D4: moves records, row, waits, snapshot and claim together', async () => {
    const { store } = subject
    const row = sampleRow('task-1', { waits: ['build.done'], dueAt: 7, owner: 'worker-1' })
    const snapshot = sampleSnapshot('task-1', 2)
    const claim = sampleClaim('task-1')
    expect(await store.commit([creation('task-1', row, { snapshot, claim })])).toEqual([written])

    expect(await store.list({ limit: 9 })).toEqual([row])
    expect(await store.load('acme', 'task-1')).toEqual(
      expect.objectContaining({ snapshot, records: [] }),
    )
    expect(await store.findClaim(claim)).toEqual(claim)
    expect(await store.waiting('acme', ['build.done'], '', 9)).toEqual(['task-1'])
  })

  it('replaces the row as a whole, and leaves it alone when the commit brings none', async () => {
    const { store } = subject
    const parked = {
      waits: ['a', 'b'],
      dueAt: 7,
      readyAt: 3,
      owner: 'worker-1',
      held: true,
    } as const
    await store.commit([creation('task-1', parked)])
    await store.commit([step('task-1', 2)])
    expect(await store.list({ limit: 9 })).toEqual([sampleRow('task-1', parked)])

    const next = sampleRow('task-1', { state: 'completed', statusAt: 2_000, waits: ['b', 'c'] })
    await store.commit([step('task-1', 3, { row: next })])

    expect(await store.list({ limit: 9 })).toEqual([next])
    expect(await store.waiting('acme', ['a'], '', 9)).toEqual([])
    expect(await store.waiting('acme', ['b', 'c'], '', 9)).toEqual(['task-1'])
    expect(await store.nextDueAt()).toBeUndefined()
    expect(await store.ready('travel', 9)).toEqual([])
    expect(await store.orphans('nobody', 9)).toEqual([])
  })
}

function failedAs({ kit }: Subject): (kind: CommitFailure) => unknown {
  return (kind) => kit.expect.objectContaining({ status: 'failed', kind })
}

function batches(subject: Subject): void {
  const { it, expect } = subject.kit
  const failed = failedAs(subject)
  it('answers in the order of the batch, and nothing for an empty one', async () => {
    const { store } = subject
    await store.commit([creation('task-2')])
    const results = await store.commit([creation('task-3'), creation('task-2'), step('task-2', 2)])
    expect(results.map((result) => result.status)).toEqual(['written', 'conflict', 'written'])
    expect(await store.commit([])).toEqual([])
  })

  it('lets a later commit of the same batch follow an earlier one', async () => {
    const { store } = subject
    expect(
      await store.commit([
        creation('task-1'),
        step('task-1', 2),
        step('task-1', 3),
        step('task-1', 3),
      ]),
    ).toEqual([written, written, written, { status: 'conflict', version: 4 }])
  })

  it('D2: does not let a commit that cannot be written touch its neighbours', async () => {
    const { store } = subject
    await store.commit([creation('task-1')])

    const results = await store.commit([
      creation('task-2'),
      poison('task-1', 2),
      step('task-1', 2),
      poison('task-3', 0),
      step('task-2', 2),
    ])

    expect(results.map((result) => result.status)).toEqual([
      'written',
      'failed',
      'written',
      'failed',
      'written',
    ])
    expect(results[1]).toEqual(failed('content'))
    expect(await store.records('acme', 'task-1', 0, 9)).toHaveLength(3)
    expect(await store.records('acme', 'task-2', 0, 9)).toHaveLength(3)
    expect(await store.load('acme', 'task-3')).toBeUndefined()
  })
}

function sizesAndShapes(subject: Subject): void {
  const { it, expect } = subject.kit
  const failed = failedAs(subject)
  it('writes a commit as large as Lull makes them, and one that is too large is written whole or fails alone', async () => {
    const { store } = subject
    const sized = (taskId: string, bytes: number): Commit => {
      const value = 'x'.repeat(bytes)
      const record: LogRecord = { type: 'value', key: 'large', value, seq: 3, at: 1 }
      return step(taskId, 2, { records: [record] })
    }
    await store.commit([creation('task-1'), creation('task-2'), creation('task-3')])
    const results = await store.commit([
      sized('task-1', LARGE_BYTES),
      sized('task-2', TOO_LARGE_BYTES),
      step('task-3', 2),
    ])

    expect([results[0], results[2]]).toEqual([written, written])
    const large = (await store.records('acme', 'task-1', 2, 1)).map((record) =>
      JSON.stringify(record),
    )
    expect(large[0]?.length).toBeGreaterThan(LARGE_BYTES)
    const isWritten = results[1]?.status === 'written'
    if (!isWritten) expect(results[1]).toEqual(failed('content'))
    expect(await store.records('acme', 'task-2', 0, 9)).toHaveLength(isWritten ? 3 : 2)
    expect(await store.commit([step('task-3', 3)])).toEqual([written])
  })

  it('fails a commit whose records are missing, do not follow, or begin a task without a row', async () => {
    const { store } = subject
    await store.commit([creation('task-1')])
    const { row: _, ...rowless } = creation('task-2')
    const results = await store.commit([
      step('task-1', 2, { records: [] }),
      step('task-1', 2, { records: step('task-1', 3).records }),
      rowless,
    ])
    for (const result of results) {
      expect(result).toEqual(failed('malformed'))
    }
    expect(await store.records('acme', 'task-1', 0, 9)).toHaveLength(2)
  })
}

function logs(subject: Subject): void {
  const { it, expect } = subject.kit
  it('gives back the snapshot and only the records after it', async () => {
    const { store } = subject
    const snapshot = sampleSnapshot('task-1', 3)
    await store.commit([creation('task-1')])
    await store.commit([step('task-1', 2, { snapshot })])
    await store.commit([step('task-1', 3), step('task-1', 4)])

    const stored = await store.load('acme', 'task-1')

    expect(stored?.snapshot).toEqual(snapshot)
    expect(stored?.records).toEqual([...step('task-1', 3).records, ...step('task-1', 4).records])
  })

  it('reads one row alone, as it was last written, and after a restart', async () => {
    const { store } = subject
    const first = { parentId: 'task-0', dueAt: 50, owner: 'worker-1', waits: ['build.done'] }
    await store.commit([creation('task-1', first), creation('task-2')])
    expect(await store.row('acme', 'task-1')).toEqual(sampleRow('task-1', first))
    const { dueAt: _, owner: __, ...left } = first
    const row = sampleRow('task-1', { ...left, state: 'completed', statusAt: 99, waits: [] })
    await store.commit([step('task-1', 2, { row })])
    await store.commit([step('task-1', 3)])

    expect(await store.row('acme', 'task-1')).toEqual(row)
    expect(await store.row('acme', 'task-2')).toEqual(sampleRow('task-2'))
    expect(await store.row('acme', 'task-9')).toBeUndefined()
    expect(await (await subject.reopen()).row('acme', 'task-1')).toEqual(row)
  })

  it('D1, D2: keeps the last anchor outside the log, and none of a refused commit', async () => {
    const { store } = subject
    await store.commit([creation('task-1'), creation('task-2', {}, { anchor: '1 b key sign' })])
    expect((await store.load('acme', 'task-1'))?.anchor).toBe(null)
    const batch = [
      step('task-1', 2, { anchor: '1 a key sign' }),
      step('task-2', 7, { anchor: '2 x key sign' }),
    ]
    expect(await store.commit(batch)).toEqual([written, { status: 'conflict', version: 2 }])
    await store.commit([step('task-1', 3, { anchor: '2 a key sign' }), step('task-2', 2)])
    await store.commit([step('task-1', 4, { snapshot: sampleSnapshot('task-1', 5) })])
    const again = await subject.reopen()
    expect((await again.load('acme', 'task-1'))?.anchor).toBe('2 a key sign')
    expect((await again.load('acme', 'task-2'))?.anchor).toBe('1 b key sign')
  })

  it('replaces a snapshot by a later one', async () => {
    const { store } = subject
    await store.commit([creation('task-1', {}, { snapshot: sampleSnapshot('task-1', 2) })])
    const snapshot = sampleSnapshot('task-1', 3)
    await store.commit([step('task-1', 2, { snapshot })])
    expect(await store.load('acme', 'task-1')).toEqual(
      expect.objectContaining({ snapshot, records: [] }),
    )
  })

  it('reads the log after a number, oldest first, as many as asked for, whatever was folded', async () => {
    const { store } = subject
    await store.commit([creation('task-1'), creation('task-2')])
    await store.commit([step('task-1', 2), step('task-2', 2)])
    await store.commit([step('task-1', 3, { snapshot: sampleSnapshot('task-1', 4) })])

    const all = [
      ...creation('task-1').records,
      ...step('task-1', 2).records,
      ...step('task-1', 3).records,
    ]
    expect(await store.records('acme', 'task-1', 0, 99)).toEqual(all)
    expect(await store.records('acme', 'task-1', 1, 2)).toEqual(all.slice(1, 3))
    expect(await store.records('acme', 'task-1', 4, 9)).toEqual([])
    expect(await store.records('acme', 'task-9', 0, 9)).toEqual([])
  })

  it('knows no task that was never written', async () => {
    expect(await subject.store.load('acme', 'task-9')).toBeUndefined()
  })
}
