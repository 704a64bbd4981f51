import type { SessionRow } from '../../ports/store/sessions.ts'
import type { Subject } from './subject.ts'

const sampleSession = (
  id: string,
  updatedAt: number,
  some: Partial<SessionRow> = {},
): SessionRow => ({
  tenant: 'acme',
  principal: 'alice',
  id,
  cwd: '/work',
  createdAt: 1,
  updatedAt,
  ...some,
})

export function sessions(subject: Subject): void {
  const { it, expect } = subject.kit
  it('keeps sessions by owner and id, the latest of each, across a restart', async () => {
    const { store } = subject
    const whole = sampleSession('s', 5, { title: 'T', agent: 'a', aliases: { theirs: 'ours' } })
    await store.putSession(sampleSession('s', 2))
    await store.putSession(whole)
    await store.putSession(sampleSession('s', 3, { principal: 'bob' }))
    expect(await store.session('acme', 'alice', 's')).toEqual(whole)
    expect(await store.session('acme', 'alice', 'other')).toBeUndefined()
    expect(await store.session('evil', 'alice', 's')).toBeUndefined()
    const again = await subject.reopen()
    expect(await again.session('acme', 'alice', 's')).toEqual(whole)
  })

  it('replaces a session only when it is the one that was read', async () => {
    const { store } = subject
    const [first, second] = [sampleSession('s', 2), sampleSession('s', 3, { title: 'ß\u0000' })]
    expect(await store.replaceSession(first, second)).toBe(false)
    expect(await store.session('acme', 'alice', 's')).toBeUndefined()
    expect(await store.replaceSession(undefined, first)).toBe(true)
    expect(await store.replaceSession(undefined, second)).toBe(false)
    expect(await store.replaceSession(first, second)).toBe(true)
    expect(await store.replaceSession(first, first)).toBe(false)
    const read = await store.session('acme', 'alice', 's')
    expect(read).toEqual(second)
    expect(await store.replaceSession(read, { ...second, deletedAt: 4 })).toBe(true)
    expect(await store.sessions('acme', 'alice', undefined, 9)).toEqual([])
    expect(await store.session('acme', 'bob', 's')).toBeUndefined()
  })

  it('lists those of one owner, latest first, page by page, without deleted ones', async () => {
    const { store } = subject
    for (const [id, at] of [
      ['a', 1],
      ['b', 3],
      ['c', 3],
      ['d', 2],
    ] as const) {
      await store.putSession(sampleSession(id, at))
    }
    await store.putSession(sampleSession('e', 9, { principal: 'bob' }))
    await store.putSession(sampleSession('d', 2, { deletedAt: 4 }))
    const ids = async (before: { updatedAt: number; id: string } | undefined, limit: number) =>
      (await store.sessions('acme', 'alice', before, limit)).map((one) => one.id)
    expect(await ids(undefined, 9)).toEqual(['c', 'b', 'a'])
    expect(await ids(undefined, 1)).toEqual(['c'])
    expect(await ids({ updatedAt: 3, id: 'c' }, 9)).toEqual(['b', 'a'])
    expect((await store.session('acme', 'alice', 'd'))?.deletedAt).toBe(4)
  })
}
