import { expect, it } from 'vitest'
import { createFakeIo } from '../test-support/fake-io.ts'
import { createLinePrinter } from './watch-task.ts'

it('keeps a bounded piece of a line that never ends', () => {
  const io = createFakeIo()
  const lines = createLinePrinter({ ...io, size: () => ({ columns: 80, rows: 24 }) })
  for (let i = 0; i < 100; i++) lines.io.write('x'.repeat(1_000))
  expect(lines.rest().length).toBeLessThan(10_000)
  lines.end()
  expect(io.out.join('').length).toBe(100_000)
})
