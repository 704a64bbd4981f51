import { expect, it } from 'vitest'
import { joined } from './joined-reads.ts'

/** Asks that the test answers itself. */
function openAsks() {
  const asks: { readonly keys: readonly number[]; answer(): void; fail(error: Error): void }[] = []
  const read = joined<number, string>(
    (keys) =>
      new Promise((resolve, reject) => {
        asks.push({ keys, answer: () => resolve(keys.map(String)), fail: reject })
      }),
  )
  return { asks, read, keys: () => asks.map((ask) => ask.keys) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('calls of one turn share a statement, and each gets its own answer', async () => {
  const { asks, read, keys } = openAsks()
  const answers = Promise.all([read(1), read(2), read(1)])
  await turn()
  expect(keys()).toEqual([[1, 2, 1]])
  asks[0]?.answer()
  expect(await answers).toEqual(['1', '2', '1'])
})

it('calls that come while two statements are under way share the next one', async () => {
  const { asks, read, keys } = openAsks()
  const answers: Promise<string>[] = []
  for (const key of [1, 2, 3, 4]) {
    answers.push(read(key))
    await turn()
  }
  expect(keys()).toEqual([[1], [2]])
  asks[0]?.answer()
  await answers[0]
  await turn()
  expect(keys()).toEqual([[1], [2], [3, 4]])
  for (const ask of asks) ask.answer()
  expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4'])
})

it('a statement that fails fails its calls, and the next one is sent', async () => {
  const { asks, read } = openAsks()
  const failing = expect(read(1)).rejects.toThrow('away')
  await turn()
  asks[0]?.fail(new Error('away'))
  await failing
  const answer = read(2)
  await turn()
  asks[1]?.answer()
  expect(await answer).toBe('2')
})
