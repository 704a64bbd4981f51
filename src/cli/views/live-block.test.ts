import { describe, expect, it } from 'vitest'
import { createLiveBlock, endOf } from './live-block.ts'

const block = (columns: number, ...lines: readonly string[]) => {
  let width = columns
  const made = createLiveBlock(() => width)
  made.set(lines)
  return { ...made, resize: (to: number) => (width = to) }
}

describe('a block of live lines', () => {
  it('B1: is cut to the width, with colours switched off again', () => {
    expect(block(6, '\u001b[31mabcdefgh\u001b[39m').draw()).toBe('\u001b[31mabcde\u001b[39m')
    expect(block(80, 'whole', 'lines').draw()).toBe('whole\nlines')
  })

  it('B1: counts characters of two columns twice, and marks not at all', () => {
    expect(block(6, '漢字漢字').draw()).toBe('漢字')
    expect(block(6, '😀😀😀').draw()).toBe('😀😀')
    expect(block(4, 'e\u0301e\u0301e\u0301e\u0301').draw()).toBe('e\u0301e\u0301e\u0301')
  })

  it('B1: counts a tab as the one space that it draws', () => {
    expect(block(6, 'a\tb\nc\td').draw()).toBe('a b c')
  })

  it('B1: reads no more of a long line than fits', () => {
    const long = block(6, `\u001b[31m${'x'.repeat(20_000_000)}\u001b[39m`)
    expect(long.draw()).toBe('\u001b[31mxxxxx\u001b[39m')
  })

  it('B2: erases the rows that it drew, and nothing twice', () => {
    const three = block(80, 'a', 'b', 'c')
    expect(three.erase()).toBe('')
    three.draw()
    expect(three.erase()).toBe('\r\u001b[2A\u001b[J')
    expect(three.erase()).toBe('')
  })

  it('B2: erases lines that a narrower terminal broke', () => {
    const two = block(40, 'x'.repeat(30), 'y')
    two.draw()
    two.resize(10)
    expect(two.erase()).toBe('\r\u001b[3A\u001b[J')
  })
})

it('shows the end of a text that is being written', () => {
  expect(endOf('short', 10)).toBe('short')
  expect(endOf('once upon a time', 8)).toBe('… a time')
  expect(endOf('漢字漢字', 6)).toBe('…漢字')
})
