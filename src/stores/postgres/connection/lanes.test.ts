import { expect, it } from 'vitest'
import { createLanes, joinedByTenant, type Lanes } from './lanes.ts'

interface Ask {
  readonly tenant: string
  readonly items: readonly number[]
  answer(): void
  fail(error: Error): void
}

/** Writes that the test answers itself. */
function openAsks(lanes: Lanes = createLanes()) {
  const asks: Ask[] = []
  const write = joinedByTenant<number, string>(
    lanes,
    (tenant, items) =>
      new Promise((resolve, reject) => {
        const answer = (): void => resolve(items.map((item) => `${tenant} ${item}`))
        asks.push({ tenant, items, answer, fail: reject })
      }),
  )
  return { asks, write, sent: () => asks.map(({ tenant, items }) => [tenant, ...items]) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('J3: calls of one turn share a statement, and each gets its own results', async () => {
  const { asks, write, sent } = openAsks()
  const answers = Promise.all([write('a', [1]), write('a', [2, 3])])
  await turn()
  expect(sent()).toEqual([['a', 1, 2, 3]])
  asks[0]?.answer()
  expect(await answers).toEqual([['a 1'], ['a 2', 'a 3']])
})

it('J1, J2, J3: a tenant has one statement under way, all have two, and what waits is joined', async () => {
  const lanes = createLanes()
  const events = openAsks(lanes)
  const audit = openAsks(lanes)
  const answers: Promise<unknown>[] = []
  for (const item of [1, 2]) {
    answers.push(events.write('a', [item]))
    await turn()
  }
  answers.push(audit.write('a', [3]), events.write('b', [4]), events.write('c', [5]))
  await turn()
  answers.push(events.write('a', [6]))
  await turn()
  expect([events.sent(), audit.sent()]).toEqual([
    [
      ['a', 1],
      ['b', 4],
    ],
    [],
  ])
  // The statement of `a` stands still: the others go on.
  events.asks[1]?.answer()
  await turn()
  expect(events.sent().at(-1)).toEqual(['c', 5])
  events.asks[2]?.answer()
  events.asks[0]?.answer()
  await turn()
  expect(events.sent().at(-1)).toEqual(['a', 2, 6])
  events.asks[3]?.answer()
  await turn()
  expect(audit.sent()).toEqual([['a', 3]])
  audit.asks[0]?.answer()
  await Promise.all(answers)
})

it('a value that the database refuses fails its own call alone', async () => {
  const { asks, write } = openAsks()
  const [bad, good] = [write('a', [1]).catch((error: unknown) => error), write('a', [2])]
  await turn()
  const refusal = new TypeError('cannot be encoded')
  asks[0]?.fail(refusal)
  await turn()
  asks[1]?.fail(refusal)
  await turn()
  asks[2]?.answer()
  expect(await bad).toBe(refusal)
  expect(await good).toEqual(['a 2'])
})
