import { expect, it } from 'vitest'
import { createSlots } from './post.ts'

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
  const all = ['a', 'b', 'c'].map((name) => slots.during({ tenant: 't', host: 'h' }, work(name)))
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
    slots.during({ tenant: 't', host: 'slow' }, work('a')),
    slots.during({ tenant: 't', host: 'slow' }, work('b')),
    slots.during({ tenant: 't', host: 'other' }, work('c')),
    slots.during({ tenant: 't', host: 'third' }, work('d')),
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
  await expect(
    slots.during({ tenant: 't', host: 'h' }, () => Promise.reject(new Error('no'))),
  ).rejects.toThrow('no')
  await expect(slots.during({ tenant: 't', host: 'h' }, async () => 'yes')).resolves.toBe('yes')
})

it('gives a free slot to the tenant that has the fewest, however many of another one wait', async () => {
  const { started, work, end } = pieces()
  const slots = createSlots({ total: 2, perHost: 9 })
  const greedy = ['a', 'b', 'c', 'd'].map((name) =>
    slots.during({ tenant: 'greedy', host: name }, work(name)),
  )
  const modest = slots.during({ tenant: 'modest', host: 'm' }, work('m'))
  await Promise.resolve()
  expect(started).toEqual(['a', 'b'])
  end('a')
  await greedy[0]
  expect(started).toEqual(['a', 'b', 'm'])
  end('b')
  await greedy[1]
  expect(started).toEqual(['a', 'b', 'm', 'c'])
  end('m')
  await modest
})
