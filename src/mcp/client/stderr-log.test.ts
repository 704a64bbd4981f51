import { expect, it } from 'vitest'
import { createStderrLog } from './connect.ts'

it('logs whole lines, however they arrive, and keeps the last ones', () => {
  const written: string[] = []
  const log = createStderrLog((line) => written.push(line))
  for (const piece of ['on', 'e\ntwo\nth', 'ree']) log.add(piece)
  expect(written).toEqual(['one', 'two'])
  expect(log.last()).toEqual(['one', 'two', 'three'])
})

it('is bounded for a server that prints without end', () => {
  const written: string[] = []
  const log = createStderrLog((line) => written.push(line))
  for (let n = 0; n < 5_000; n++) log.add('x'.repeat(5_000))
  log.add('\n')
  expect(written).toEqual(['x'.repeat(1_000)])
  for (let n = 0; n < 5_000; n++) log.add(`line ${n}\n`)
  expect(written).toHaveLength(1_000)
  expect(written.at(-1)).toBe('(further lines are not logged)')
  expect(log.last()).toHaveLength(10)
  expect(log.last().at(-1)).toBe('line 4999')
})
