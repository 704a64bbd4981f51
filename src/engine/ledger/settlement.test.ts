import { describe, expect, it } from 'vitest'
import { createFaultyStore } from '../test-support/faulty-store.ts'
import { complete, ledgerOn, message, submit } from '../test-support/ledger-on.ts'

describe('a commit the store does not take', () => {
  it('L6: fails only the command whose content cannot be stored, also where it shared a commit', async () => {
    const faulty = createFaultyStore()
    const lines: string[] = []
    const ledger = ledgerOn(faulty.store, 100, undefined, (_level, text) => lines.push(text))
    faulty.refuses = ({ records }) => JSON.stringify(records).includes('poison')
    await ledger.create('t', submit('t'))
    const names = ['a', 'poison', 'b', 'c']
    const told = await Promise.allSettled(names.map((id) => ledger.commit('t', message(id))))
    expect(told.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect((told[1] as PromiseRejectedResult).reason).toMatchObject({
      code: 'RECORD_REFUSED',
      details: { taskId: 't', why: 'this row alone' },
    })
    const task = await ledger.read('t')
    expect(task?.history.map(({ messageId }) => messageId)).toEqual(['m', 'a', 'b', 'c'])
    expect(ledger.trouble()).toBeUndefined()
    expect(lines).toEqual(['a write was refused: its content cannot be stored'])
  })

  it('L6: a refused record of a task that began ahead does not take its create with it', async () => {
    const faulty = createFaultyStore()
    const ledger = ledgerOn(faulty.store)
    faulty.refuses = ({ records }) => records.some(({ type }) => type === 'message')
    let refused: Promise<unknown> = Promise.resolve()
    let completed: Promise<unknown> = Promise.resolve()
    const created = await ledger.create('t', submit('t'), undefined, () => {
      refused = ledger.commit('t', message('poison'))
      refused.catch(() => undefined)
      completed = ledger.commit('t', complete)
    })
    expect(created.records.map(({ type }) => type)).toEqual(['submitted', 'started'])
    await expect(refused).rejects.toMatchObject({ code: 'RECORD_REFUSED' })
    await completed
    expect((await ledger.read('t'))?.state).toBe('completed')
  })

  it('says that the store cannot write until a commit works again, and logs each change once', async () => {
    const faulty = createFaultyStore()
    const lines: string[] = []
    const ledger = ledgerOn(faulty.store, 100, undefined, (_level, text) => lines.push(text))
    faulty.writesFail = true
    for (const id of ['a', 'b']) {
      await expect(ledger.create(id, submit(id))).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      })
    }
    expect(ledger.trouble()).toBe('the disk is on fire')
    faulty.writesFail = false
    await ledger.create('c', submit('c'))
    expect(ledger.trouble()).toBeUndefined()
    expect(lines).toEqual(['the store cannot write; callers are refused', 'the store writes again'])
  })

  it('admits no further message while as many commands wait as the limit says', async () => {
    const faulty = createFaultyStore()
    const limits = { cachedTasks: 10, cachedBytes: 1e9, waitingCommands: 3, waitingBytes: 1_000 }
    const ledger = ledgerOn(faulty.store, 10, undefined, undefined, limits)
    const gate = faulty.hold()
    const few = ['a', 'b', 'c'].map((id) => ledger.create(id, submit(id)))
    expect(() => ledger.admit()).toThrow(
      expect.objectContaining({
        code: 'OVERLOADED',
        details: expect.objectContaining({ limit: 'waitingCommands' }),
      }),
    )
    gate.fire()
    await Promise.all(few)
    ledger.admit()
    const large = ledger.create('d', submit('d'), { bytes: 1_000 })
    expect(() => ledger.admit()).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ limit: 'waitingBytes' }) }),
    )
    await large
    ledger.admit()
  })
})
