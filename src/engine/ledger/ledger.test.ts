import { describe, expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { cancel, complete, ledgerOn, message, submit } from '../test-support/ledger-on.ts'

describe('the ledger', () => {
  it('writes what came in one turn of the loop in one batch', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    const ids = Array.from({ length: 100 }, (_, index) => `task-${index}`)
    await Promise.all(ids.map((id) => ledger.create(id, submit(id))))
    expect(faulty.batches).toEqual([100])
    await Promise.all(ids.map((id) => ledger.commit(id, message('x'))))
    expect(faulty.batches).toEqual([100, 100])
  })

  it('bounds a batch, and several commands of one task share one commit', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store, 1_000)
    const ids = Array.from({ length: 300 }, (_, index) => `task-${index}`)
    await Promise.all(ids.map((id) => ledger.create(id, submit(id))))
    expect(faulty.batches).toEqual([128, 128, 44])
    const told = ['a', 'b', 'c'].map((id) => ledger.commit('task-0', message(id)))
    const seqs = (await Promise.all(told)).map(({ records }) => records.map(({ seq }) => seq))
    expect(seqs).toEqual([[3], [4], [5]])
    expect(faulty.batches.at(-1)).toBe(1)
  })

  it('bounds how many commands of one task share a commit, and keeps their order', async () => {
    const faulty = createFaultyStore()
    const sizes: number[] = []
    const commit: typeof faulty.store.commit = (batch) => {
      sizes.push(...batch.map(({ records }) => records.length))
      return faulty.store.commit(batch)
    }
    const ledger = ledgerOn({ ...faulty.store, commit })
    await ledger.create('t', submit('t'))
    const told = Array.from({ length: 1_000 }, (_, index) =>
      ledger.commit('t', message(`${index}`)),
    )
    const seqs = (await Promise.all(told)).map(({ records }) => records[0]?.seq)
    expect(seqs).toEqual(told.map((_, index) => index + 3))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256)
  })

  it.each([
    ['an older version of the task', 't'],
    ['no such task', 'other'],
  ])('stops to ask for a version when the store has lost it and has %s', async (_, taskId) => {
    const { store } = createFaultyStore()
    await ledgerOn(store).create('t', submit('t'))
    let reads = 0
    const load: typeof store.load = async (tenant, id) => {
      if (++reads > 10) throw new LullError('STORE_UNAVAILABLE', { why: 'asked without end' })
      return store.load(tenant, id)
    }
    const tenantOf: typeof store.tenantOf = async () => 'acme'
    await ledgerOn({ ...store, load, tenantOf }).reach(taskId, 7)
    expect(reads).toBe(1)
  })

  it('L1: answers after the records are durable, never before', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    const gate = faulty.hold()
    let answered = false
    const creating = ledger.create('t', submit('t')).then(() => {
      answered = true
    })
    for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next))
    expect(answered).toBe(false)
    gate.fire()
    await creating
    expect((await faulty.store.load('acme', 't'))?.records).toHaveLength(2)
  })

  it('L2: decides the commands of a task in order, on what the ones before them made', async () => {
    const ledger = ledgerOn(createFaultyStore().store)
    const [created, told, ended, late] = await Promise.allSettled([
      ledger.create('t', submit('t')),
      ledger.commit('t', message('a')),
      ledger.commit('t', cancel),
      ledger.commit('t', message('b')),
    ])
    expect([created, told, ended].map((one) => one.status)).toEqual(Array(3).fill('fulfilled'))
    expect((late as PromiseRejectedResult).reason).toMatchObject({ code: 'TASK_TERMINAL' })
  })

  it('L3: a second writer on the store is decided upon, not overwritten', async () => {
    const { store } = createFaultyStore()
    const one = ledgerOn(store)
    const two = ledgerOn(store)
    await one.create('t', submit('t'))
    await two.read('t')
    await one.commit('t', message('from one'))
    const { task, records } = await two.commit('t', message('from two'))
    expect(records.map(({ seq }) => seq)).toEqual([4])
    expect(task.history.map((known) => known.messageId)).toEqual(['m', 'from one', 'from two'])
    await one.commit('t', cancel)
    await expect(two.commit('t', message('late'))).rejects.toMatchObject({ code: 'TASK_TERMINAL' })
    expect((await two.read('t'))?.state).toBe('canceled')
  })

  it('L3: many writers at the same time lose nothing and keep the order of each', async () => {
    const { store } = createFaultyStore()
    const ledgers = [ledgerOn(store), ledgerOn(store), ledgerOn(store)]
    await ledgers[0]?.create('t', submit('t'))
    await Promise.all(
      ledgers.flatMap((ledger, who) =>
        Array.from({ length: 20 }, (_, n) => ledger.commit('t', message(`${who}-${n}`))),
      ),
    )
    const log = await store.records('acme', 't', 0, 1_000)
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
    for (const who of [0, 1, 2]) {
      const mine = log.flatMap((record) =>
        record.type === 'message' && record.message.messageId.startsWith(`${who}-`)
          ? [record.message.messageId]
          : [],
      )
      expect(mine).toEqual(Array.from({ length: 20 }, (_, n) => `${who}-${n}`))
    }
  })

  it('L4: when the store cannot write, everyone who waits gets the error and nothing was written', async () => {
    const faulty = createFaultyStore()
    const published: string[] = []
    const ledger = ledgerOn(faulty.store, 100, (task) => published.push(task.id))
    await ledger.create('t', submit('t'))
    faulty.writesFail = true
    const tries = await Promise.allSettled([
      ledger.commit('t', message('a')),
      ledger.commit('t', cancel),
      ledger.create('u', submit('u')),
    ])
    for (const one of tries) {
      expect((one as PromiseRejectedResult).reason).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    }
    expect(published).toEqual(['t'])
    expect((await ledger.read('t'))?.state).toBe('working')
    faulty.writesFail = false
    const { task } = await ledger.commit('t', message('b'))
    expect(task.history.map((known) => known.messageId)).toEqual(['m', 'b'])
  })

  it('L4: what came behind a write that failed does not overtake it', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    await ledger.create('t', submit('t'))
    const gate = faulty.hold()
    const first = ledger.commit('t', message('first'))
    await new Promise((next) => setImmediate(next))
    const second = ledger.commit('t', message('second'))
    const both = Promise.allSettled([first, second])
    faulty.writesFail = true
    gate.fire()
    expect((await both).map((one) => one.status)).toEqual(['rejected', 'rejected'])
  })

  it('a commit that fails alone leaves its neighbours untouched', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    faulty.refuses = ({ taskId }) => taskId === 'bad'
    const tries = await Promise.allSettled(
      ['good', 'bad', 'fine'].map((id) => ledger.create(id, submit(id))),
    )
    expect(tries.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('a listener that throws does not affect other listeners', async () => {
    const ledger = ledgerOn(createFaultyStore().store, 100, (task) => {
      if (task.id === 'bad') throw new Error('listener')
    })
    const tries = await Promise.allSettled(
      ['bad', 'fine'].map((id) => ledger.create(id, submit(id))),
    )
    expect(tries.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled'])
    await ledger.commit('bad', message('on it goes'))
  })

  it('shows a task that exists also while somebody creates it again', async () => {
    const faulty = createFaultyStore()
    await ledgerOn(faulty.store).create('t', submit('t'))
    const again = ledgerOn(faulty.store)
    const gate = faulty.hold()
    const creating = again.create('t', submit('t'))
    await new Promise((next) => setImmediate(next))
    expect((await again.read('t'))?.id).toBe('t')
    gate.fire()
    expect((await creating).records).toEqual([])
    expect((await again.read('t'))?.version).toBe(2)
  })

  it('keeps so many tasks in memory, reads others back, and remembers none that does not exist', async () => {
    const { store } = createFaultyStore()
    const ledger = ledgerOn(store, 2)
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await ledger.create(id, submit(id))
    expect(ids.filter((id) => ledger.peek(id) !== undefined)).toHaveLength(2)
    for (const id of ids) expect((await ledger.read(id))?.id).toBe(id)
    expect(await ledger.read('nobody')).toBeUndefined()
    expect(ledger.peek('nobody')).toBeUndefined()
  })

  it('a long log that is read back from a snapshot folds to the same task', async () => {
    const { store } = createFaultyStore()
    const ledger = ledgerOn(store)
    await ledger.create('t', submit('t'))
    for (let n = 0; n < 100; n++) await ledger.commit('t', message(`m-${n}`))
    const again = await ledgerOn(store).read('t')
    expect(again).toEqual(await ledger.read('t'))
    expect((await store.load('acme', 't'))?.records.length).toBeLessThan(64)
  })

  const claim = {
    tenant: 'acme',
    principal: 'alice',
    agent: 'worker',
    key: 'k',
    taskId: 't',
    digest: 'd',
    createdAt: 1,
  }

  it('L5: what a task begun ahead asks for within a turn of the loop joins the commit of its submission', async () => {
    const faulty = createFaultyStore()
    const published: (readonly LogRecord[])[] = []
    const ledger = ledgerOn(faulty.store, 100, (_task, records) => published.push(records))
    let completing: Promise<unknown> | undefined
    const created = ledger.create('t', submit('t'), undefined, (task) => {
      expect(task.run?.token).toBe('token')
      expect(ledger.peek('t')).toBeUndefined()
      setImmediate(() => {
        completing = ledger.commit('t', complete)
      })
    })
    expect((await created).records.map(({ type }) => type)).toEqual(['submitted', 'started'])
    await completing
    expect(faulty.batches).toEqual([1])
    expect(published.map((records) => records.length)).toEqual([3])
  })

  it('a task begun ahead that cannot be written never was, and neither was what it asked for', async () => {
    const faulty = createFaultyStore()
    faulty.writesFail = true
    const published: Task[] = []
    const ledger = ledgerOn(faulty.store, 100, (task) => published.push(task))
    let completing: Promise<unknown> = Promise.resolve()
    const created = ledger.create('t', submit('t'), undefined, () => {
      completing = ledger.commit('t', complete)
      completing.catch(() => undefined)
    })
    const unavailable = { code: 'STORE_UNAVAILABLE' }
    await expect(created).rejects.toMatchObject(unavailable)
    await expect(completing).rejects.toMatchObject(unavailable)
    expect(await ledger.read('t')).toBeUndefined()
    expect(published).toEqual([])
  })

  it('a task begun ahead whose key is taken gets the other claim; its other commands find no task', async () => {
    const { store } = createFaultyStore()
    const other = { ...claim, taskId: 'other' }
    await store.claim(other)
    const ledger = ledgerOn(store)
    let completing: Promise<unknown> = Promise.resolve()
    const created = await ledger.create('t', submit('t'), { claim }, () => {
      completing = ledger.commit('t', complete)
      completing.catch(() => undefined)
    })
    expect(created.claimed).toEqual(other)
    await expect(completing).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' })
    expect(await ledger.read('t')).toBeUndefined()
  })

  it('writes tasks that ended ahead with the next flush, and they leave memory with it', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    const gate = faulty.hold()
    const endAhead = (id: string) =>
      ledger.create(id, submit(id), undefined, () => {
        ledger.commit(id, complete).catch(() => undefined)
      })
    const all = Array.from({ length: 14 }, (_, n) => endAhead(`task-${n}`))
    gate.fire()
    const committed = await Promise.all(all)
    expect(faulty.batches).toEqual([14])
    for (const { task, laterRecords, latest } of committed) {
      expect(task.state).toBe('working')
      expect(laterRecords.map(({ type, seq }) => `${seq} ${type}`)).toEqual(['3 completed'])
      expect(latest.state).toBe('completed')
      expect(ledger.peek(task.id)).toBeUndefined()
      expect(await ledger.read(task.id)).toEqual(latest)
    }
  })

  it('writes other tasks although many tasks end at once', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    await ledger.create('patient', submit('patient'))
    const gate = faulty.hold()
    const all = Array.from({ length: 100 }, (_, n) => {
      const id = `task-${n}`
      return ledger.create(id, submit(id), undefined, () => {
        ledger.commit(id, complete).catch(() => undefined)
      })
    })
    const before = faulty.batches.length
    const told = ledger.commit('patient', message('hello'))
    for (let turn = 0; turn < 3; turn++) await new Promise((next) => setImmediate(next))
    gate.fire()
    await told
    // Those it found under way, and its own.
    expect(faulty.batches.length - before).toBeLessThanOrEqual(8)
    await Promise.all(all)
  })

  it('resolves when every task that was decided so far is durable', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    await ledger.createsSettled()
    const gate = faulty.hold()
    const creating = ledger.create('t', submit('t'), undefined, () => undefined)
    let there = false
    const created = ledger.createsSettled().then(() => {
      there = true
    })
    for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next))
    expect(there).toBe(false)
    gate.fire()
    await created
    expect(ledger.peek('t')?.version).toBe(2)
    await creating
  })

  it('has eight batches under way at most; what comes meanwhile shares the next', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    const gate = faulty.hold()
    const all: Promise<unknown>[] = []
    for (let n = 0; n < 20; n++) {
      all.push(ledger.create(`task-${n}`, submit(`task-${n}`)))
      for (let turn = 0; turn < 3; turn++) await new Promise((next) => setImmediate(next))
    }
    gate.fire()
    await Promise.all(all)
    expect(faulty.batches).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 12])
  })
})
