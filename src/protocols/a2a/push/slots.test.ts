import { expect, it } from 'vitest'
import { createSlots } from './slots.ts'

/** Work that ends when it is told to. */
function pieces() {
  const started: string[] = []
  const end = new Map<string, () => void>()
  const work = (name: string) => () => {
    started.push(name)
    return new Promise<void>((resolve) => end.set(name, resolve))
  }
  return { started, work, end: (name: string) => end.get(name)?.() }
}

it('lets so many deliveries of a host run at once, and the next one when one has ended', async () => {
  const { started, work, end } = pieces()
  const slots = createSlots({ total: 10, perHost: 2 })
  const all = ['a', 'b', 'c'].map((name) => slots.during('h', work(name)))
  await Promise.resolve()
  expect(started).toEqual(['a', 'b'])
  end('a')
  await all[0]
  expect(started).toEqual(['a', 'b', 'c'])
})

it('lets another host go first when a host is busy', async () => {
  const { started, work, end } = pieces()
  const slots = createSlots({ total: 2, perHost: 1 })
  const [first] = [
    slots.during('slow', work('a')),
    slots.during('slow', work('b')),
    slots.during('other', work('c')),
    slots.during('third', work('d')),
  ]
  await Promise.resolve()
  expect(started).toEqual(['a', 'c'])
  end('c')
  await expect.poll(() => started).toEqual(['a', 'c', 'd'])
  end('a')
  await first
  expect(started).toEqual(['a', 'c', 'd', 'b'])
})

it('frees a slot when the work fails', async () => {
  const slots = createSlots({ total: 1, perHost: 1 })
  await expect(slots.during('h', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(slots.during('h', async () => 'yes')).resolves.toBe('yes')
})
