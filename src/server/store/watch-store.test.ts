import { expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { creation } from '../../testing/sample-task.ts'
import { watchStore } from './watch-store.ts'

const full = new LullError('STORE_UNAVAILABLE', { why: 'the disk is full' })

function watching() {
  const clock = createManualClock()
  const lines: unknown[][] = []
  const watch = watchStore((...line) => lines.push(line), clock)
  let failure: LullError | undefined
  const inner = createMemoryStore()
  const store = watch.watched({
    ...inner,
    commit: async (batch) => {
      if (failure !== undefined) throw failure
      return inner.commit(batch)
    },
  })
  const fail = (error: LullError | undefined): void => {
    failure = error
  }
  return { clock, lines, watch, store, fail }
}

it('W1: logs a failure at once and then once a minute, with how many calls failed', async () => {
  const { clock, lines, store, fail } = watching()
  fail(full)
  for (let n = 0; n < 5; n++) await expect(store.commit([creation('a')])).rejects.toBe(full)
  expect(lines).toEqual([['error', 'the store failed', { why: 'the disk is full', failures: 1 }]])
  await clock.advance(60_000)
  await expect(store.commit([creation('a')])).rejects.toBe(full)
  expect(lines[1]).toEqual(['error', 'the store failed', { why: 'the disk is full', failures: 5 }])
})

it('W2: logs the first commit that works again', async () => {
  const { lines, store, fail } = watching()
  await store.commit([creation('a')])
  fail(full)
  await expect(store.commit([creation('b')])).rejects.toBe(full)
  fail(undefined)
  await store.commit([creation('b')])
  await store.commit([creation('c')])
  expect(lines.map(([level]) => level)).toEqual(['error', 'info'])
})

it('W3: logs a lost store when it happens', () => {
  const { lines, watch } = watching()
  expect(watch.lost()).toBeUndefined()
  watch.lose(new LullError('STORE_UNAVAILABLE', { why: 'the thread has ended', restart: true }))
  expect(watch.lost()).toBe('the thread has ended')
  expect(lines).toHaveLength(1)
})
