import { describe, expect, it } from 'vitest'
import { LullError } from '../../core/errors.ts'
import { awkwardValues } from '../../core/test-support/awkward-values.ts'
import { createLog } from './log.ts'

function logged(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lines: string[] = []
  createLog((line) => lines.push(line))('warn', 'an agent failed', fields)
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0] ?? '')
}

describe('the log', () => {
  it.each(Object.entries(awkwardValues))('writes its line when %s was thrown', (_name, make) => {
    const line = logged({ taskId: 'task-1', error: make() })
    expect(line).toMatchObject({ level: 'warn', text: 'an agent failed', taskId: 'task-1' })
    expect(typeof line['error']).toBe('string')
  })

  it.each(Object.entries(awkwardValues))('writes its line with %s among the fields', (_n, make) => {
    expect(logged({ taskId: 'task-1', odd: make() })).toMatchObject({ taskId: 'task-1' })
  })

  it('writes the stack of an unexpected error, and one sentence of an error of ours', () => {
    expect(logged({ error: new TypeError('boom') })['error']).toContain('TypeError: boom\n    at')
    expect(logged({ error: new LullError('STORE_UNAVAILABLE', { why: 'full' }) })['error']).toBe(
      'STORE_UNAVAILABLE: The store is unavailable: full',
    )
  })

  it('keeps fields that are JSON as they are', () => {
    expect(logged({ attempts: 3, list: ['a'] })).toMatchObject({ attempts: 3, list: ['a'] })
  })

  it.each([
    [`lull_0123456789abcdef_${'x'.repeat(43)}`, 'lull_0123456789abcdef_[redacted]'],
    ['Authorization: Bearer abcdefgh12345678', 'Authorization: Bearer [redacted]'],
    ['eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln', '[redacted]'],
    [
      'postgres://lull:hunter2@db.example.com/lull',
      'postgres://lull:[redacted]@db.example.com/lull',
    ],
  ])('does not write the credential in %s', (given, written) => {
    expect(logged({ why: `it said ${given}` })['why']).toBe(`it said ${written}`)
    expect(logged({ error: new Error(given) })['error']).toContain(`Error: ${written}`)
  })

  it.each([
    ['a text', (text: string) => ({ why: text })],
    [
      'the message of an error of ours',
      (text: string) => ({ error: new LullError('STORE_UNAVAILABLE', { why: text }) }),
    ],
    ['an object', (text: string) => ({ odd: { text } })],
  ])('clips %s that repeats the beginning of a credential', (_what, fields) => {
    const line = JSON.stringify(logged(fields('eyJ'.repeat(1_000_000))))
    expect(line.length).toBeLessThan(20_000)
  })

  it('writes no character that a terminal obeys, and loses none', () => {
    const lines: string[] = []
    const why = 'a\u009b2Jb \u202e \u2028 \u007f \u001b[31m'
    createLog((line) => lines.push(line))('warn', 'x', { why })
    expect(lines[0]).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ why })
  })

  it('leaves addresses and times alone', () => {
    const why = 'http://127.0.0.1:8787/tasks/a@b at 12:30:00, bearer of news'
    expect(logged({ why })['why']).toBe(why)
  })
})
