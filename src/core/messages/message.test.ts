import { describe, expect, it } from 'vitest'
import { textOf } from './message.ts'

describe('the text of a message', () => {
  it('is its text parts, one per line', () => {
    const parts = [{ text: 'one' }, { data: 2 }, { url: 'x:' }, { raw: 'AA==' }, { text: 'two' }]
    expect(textOf({ parts })).toBe('one\ntwo')
  })

  it('is empty where there is none', () => {
    expect(textOf({ parts: [{ data: null }] })).toBe('')
  })
})
