import { describe, expect, it } from 'vitest'
import { AnswerFold, answerIn, partsOf, recordOf, textOf } from './answer.ts'
import type { StreamPart } from './any-model.ts'

const filled = { id: 'made', timestamp: new Date(0), modelId: 'm' }
const finish = { type: 'finish', finishReason: { unified: 'stop' }, usage: { inputTokens: 1 } }

function fold(...parts: readonly (StreamPart & Record<string, unknown>)[]) {
  const made = new AnswerFold()
  for (const part of parts) made.add(part)
  return made.answer()
}

describe('an answer of a model', () => {
  it('A1: is none without its finish', () => {
    expect(() => fold({ type: 'text-delta', id: '1', delta: 'Hal' })).toThrow('ended before')
    const cut = { ...finish, finishReason: { unified: 'interrupted' } }
    expect(() => fold(cut)).toThrow('ended before')
  })

  it('A1: is none with an error part', () => {
    expect(() => fold({ type: 'error', error: new Error('overloaded') })).toThrow('overloaded')
  })

  it('A2: joins the deltas of a block and keeps the last metadata', () => {
    const signed = { anthropic: { signature: 's' } }
    const { content } = fold(
      { type: 'reasoning-start', id: 'r', providerMetadata: { anthropic: {} } },
      { type: 'reasoning-delta', id: 'r', delta: 'be' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hel' },
      { type: 'reasoning-delta', id: 'r', delta: 'cause' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: signed },
      { type: 'text-delta', id: 't', delta: 'lo' },
      { type: 'text-end', id: 't' },
      finish,
    )
    expect(content).toEqual([
      { type: 'reasoning', text: 'because', providerMetadata: signed },
      { type: 'text', text: 'Hello' },
    ])
  })

  it('A3: records no raw chunks and no input deltas, and fills in what the provider left out', () => {
    const answer = fold(
      { type: 'raw', rawValue: 'x'.repeat(1_000) },
      { type: 'tool-input-start', id: 'c', toolName: 'search' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'search', input: '{}' },
      finish,
    )
    expect(answerIn(recordOf(answer, filled))).toMatchObject({
      content: [{ type: 'tool-call' }],
      response: { id: 'made', modelId: 'm', timestamp: new Date(0) },
    })
    expect(JSON.stringify(recordOf(answer, filled))).not.toContain('xxx')
  })

  it('A4: gives two calls with one id two ids', () => {
    const call = { type: 'tool-call', toolCallId: 'same', toolName: 'search', input: '{}' }
    const { content } = answerIn(recordOf(fold(call, call, finish), filled))
    expect(content).toMatchObject([{ toolCallId: 'same' }, { toolCallId: 'same-2' }])
  })

  it('A5: is the same after a replay, files included', () => {
    const bytes = new Uint8Array([1, 2, 3])
    const answer = fold(
      { type: 'stream-start', warnings: [{ type: 'other', message: 'old' }] },
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'one' },
      { type: 'file', mediaType: 'image/png', data: bytes },
      { type: 'custom', kind: 'new', url: new URL('https://lull.test/x') },
      { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'b', delta: 'two' },
      { ...finish, providerMetadata: { openai: { cached: 3 } } },
    )
    const replayed = answerIn(recordOf(answer, filled))
    const again = new AnswerFold()
    for (const part of partsOf(replayed)) again.add(part)
    expect(again.answer()).toEqual(replayed)
    expect(replayed).toEqual({ ...answer, response: filled })
    expect(textOf(replayed)).toBe('onetwo')
  })
})
