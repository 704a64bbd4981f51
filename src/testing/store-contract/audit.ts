import type { AuditEntry } from '../../ports/store/audit.ts'
import type { Subject } from './subject.ts'

function entry(id: string, at: number, given: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id,
    at,
    tenant: 'acme',
    principal: 'ann',
    action: 'task.pause',
    outcome: 'done',
    ...given,
  }
}

export function audit(subject: Subject): void {
  const { it, expect } = subject.kit
  const idsOf = async (query: object): Promise<readonly string[]> => {
    const found = await subject.store.audit({ limit: 9, ...query })
    return found.map(({ id }) => id)
  }

  it('keeps entries by time, each once, across a restart', async () => {
    const { store } = subject
    const full = entry('b', 2, { taskId: 't', operator: true, credential: 'k', further: 3 })
    await store.appendAudit([entry('a', 1), full])
    await store.appendAudit([full, entry('c', 5)])
    const again = await subject.reopen()
    const found = await again.audit({ limit: 9 })
    expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(found[1]).toEqual(full)
    await again.appendAudit([entry('d', 6)])
    const rest = await again.audit({ after: found[1], limit: 1 })
    expect(rest.map(({ id }) => id)).toEqual(['c'])
  })

  it('reads entries newest first, page by page', async () => {
    await subject.store.appendAudit(['a', 'b', 'c', 'd'].map((id, at) => entry(id, at)))
    const query = { tenant: 'acme', since: 1, order: 'desc', limit: 2 } as const
    const first = await subject.store.audit(query)
    expect(first.map(({ id }) => id)).toEqual(['d', 'c'])
    expect(await idsOf({ ...query, after: first[1] })).toEqual(['b'])
  })

  it('finds entries by tenant, principal, task and time', async () => {
    await subject.store.appendAudit([
      entry('a', 1, { taskId: 't1' }),
      entry('b', 2, { taskId: 't2', principal: 'bob' }),
      entry('c', 3, { tenant: '*', principal: undefined }),
      entry('d', 4, { tenant: 'other', taskId: 't1' }),
    ])
    expect(await idsOf({ tenant: 'acme' })).toEqual(['a', 'b'])
    expect(await idsOf({ tenant: 'acme', principal: 'bob' })).toEqual(['b'])
    expect(await idsOf({ taskId: 't1' })).toEqual(['a', 'd'])
    expect(await idsOf({ since: 2 })).toEqual(['b', 'c', 'd'])
    expect(await idsOf({ since: 5 })).toEqual([])
    expect(await idsOf({ tenant: 'nobody' })).toEqual([])
  })

  it('takes any text as a name', async () => {
    const principal = 'a\u0000\ud800\n"$1'
    await subject.store.appendAudit([entry('a', 1, { principal, taskId: principal })])
    expect(await idsOf({ principal, taskId: principal })).toEqual(['a'])
  })

  it('removes the oldest entries, a bounded number at a time', async () => {
    await subject.store.appendAudit([entry('a', 1), entry('b', 2), entry('c', 3)])
    expect(await subject.store.pruneAudit(3, 1)).toBe(1)
    expect(await idsOf({})).toEqual(['b', 'c'])
    expect(await subject.store.pruneAudit(3, 9)).toBe(1)
    expect(await idsOf({})).toEqual(['c'])
    // An entry that was removed was older than those that are left.
    const removed = { id: 'a', at: 1 }
    expect(await idsOf({ after: removed })).toEqual(['c'])
    expect(await idsOf({ after: removed, order: 'desc' })).toEqual([])
  })
}
