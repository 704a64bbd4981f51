import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Heap } from './heap.ts'

it('a heap gives values in order, whatever is added and taken in between', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (acts) => {
      const heap = new Heap<number>((one, other) => one < other)
      const model: number[] = []
      for (const act of acts) {
        if (act === null) {
          expect(heap.takeFirst()).toBe(model.shift())
        } else {
          heap.add(act)
          model.push(act)
          model.sort((one, other) => one - other)
        }
        expect([heap.first, heap.size]).toEqual([model[0], model.length])
      }
    }),
  )
})

it('a heap compares each of 10,000 values with a few others', () => {
  let compared = 0
  const heap = new Heap<number>((one, other) => {
    compared++
    return one < other
  })
  for (let value = 0; value < 10_000; value++) heap.add((value * 7_919) % 10_000)
  for (let value = 0; value < 10_000; value++) expect(heap.takeFirst()).toBe(value)
  expect(compared / 10_000).toBeLessThan(40)
})
