import { expect, it } from 'vitest'
import { awkwardValues } from '../../core/test-support/awkward-values.ts'
import { safeLog } from './task-log.ts'

it.each(Object.entries(awkwardValues))(
  'writes a line that has %s among its facts',
  (_name, make) => {
    const lines: string[] = []
    const log = safeLog((level, text, facts) => {
      lines.push(JSON.stringify({ level, text, facts }))
    })
    log('warn', 'an agent failed', { error: make() })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('an agent failed')
  },
)

it('does not fail its caller when the log itself is broken', () => {
  const log = safeLog(() => {
    throw new Error('the disk is full')
  })
  expect(() => log('warn', 'x', { a: 1 })).not.toThrow()
})
