import { describe, expect, it } from 'vitest'
import type { Part } from '../../../core/messages/message.ts'
import { readParts } from './outputs.ts'

describe('the parts an agent hands in', () => {
  it.each<[unknown, string]>([
    [null, 'parts.1'],
    ['text', 'parts.1'],
    [{}, 'parts.1'],
    [{ text: 1 }, 'parts.1.text'],
    [{ text: 'x', data: 1 }, 'parts.1'],
    [{ text: 'x', unknown: 1 }, 'parts.1.unknown'],
    [{ text: 'x', filename: 1 }, 'parts.1.filename'],
  ])('are refused where one is %j', (wrong, path) => {
    expect(() => readParts([{ text: 'x' }, wrong as Part])).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        details: expect.objectContaining({ path }),
      }),
    )
  })

  it('are what was checked, also where they are asked twice', () => {
    let asked = 0
    const moody = {
      get text() {
        return (asked++ === 0 ? 'x' : 7) as string
      },
    }
    expect(readParts([moody])).toEqual([{ text: 'x' }])
  })

  it('are copies: what the agent does to its own later changes nothing', () => {
    const own: { text: string; mediaType?: string }[] = [
      { text: 'x' },
      { text: 'y', mediaType: 'a/b' },
    ]
    const parts = readParts(own)
    for (const one of own) one.text = 'changed'
    expect(parts).toEqual([{ text: 'x' }, { text: 'y', mediaType: 'a/b' }])
  })
})
