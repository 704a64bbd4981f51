import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../core/records.ts'
import { timelineOf } from './timeline.ts'

const at = Date.parse('2030-01-01T00:00:00Z')
const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x'.repeat(1_000) }] }

describe('the timeline of a task', () => {
  it('tells steps, tools and attempts by name, and leaves out values and receipts', () => {
    const records: readonly LogRecord[] = [
      { type: 'step', key: 'step:plan#1', name: 'plan', attempt: 2, seq: 1, at },
      {
        type: 'attempt',
        key: 'step:a#1/tool:find%23#1',
        attempt: 1,
        outcome: 'interrupted',
        seq: 2,
        at,
      },
      { type: 'skipped', key: 'tool:b#1', name: 'b', seq: 3, at },
      { type: 'value', key: 'now:#1', value: 1, seq: 4, at },
    ]
    expect(timelineOf(records).map(({ kind, name, outcome }) => [kind, name, outcome])).toEqual([
      ['step', 'plan', 'done'],
      ['tool', 'find%23', 'interrupted'],
      ['tool', 'b', 'skipped'],
    ])
  })

  it('tells what each model call used', () => {
    const usage = { inputTokens: 100, outputTokens: 20, costUsd: 0.01 }
    const [entry] = timelineOf([{ type: 'usage', key: 'usage:#1', usage, seq: 1, at }])
    expect(entry).toMatchObject({ kind: 'usage', tokens: 120, costUsd: 0.01 })
  })

  it('keeps entries short, whatever was said', () => {
    const [entry] = timelineOf([{ type: 'message', message, seq: 7, at }])
    expect(entry).toMatchObject({ seq: 7, at: '2030-01-01T00:00:00.000Z', kind: 'message' })
    expect(entry?.text).toHaveLength(400)
  })
})
