import { describe, expect, it } from 'vitest'
import { createCells } from './cells.ts'

describe('the tasks in memory', () => {
  it('are as many as said, those used last', () => {
    const cells = createCells(4)
    for (let n = 0; n < 20; n++) {
      cells.of(`task-${n}`)
      cells.of('often')
    }
    expect(cells.get('task-0')).toBeUndefined()
    expect(cells.get('task-19')).toBeDefined()
    expect(cells.get('often')).toBeDefined()
    expect(cells.values().size).toBeLessThanOrEqual(5)
  })

  it('stay while they are written to, and are never there twice', () => {
    const cells = createCells(2)
    const busy = cells.of('busy')
    busy.writing = true
    for (let n = 0; n < 50; n++) {
      cells.of(`task-${n}`)
      if (n % 7 === 0) expect(cells.of('busy')).toBe(busy)
      expect(cells.get('busy')).toBe(busy)
    }
    busy.writing = false
    for (let n = 0; n < 5; n++) cells.of(`other-${n}`)
    expect(cells.get('busy')).toBeUndefined()
  })

  it('are none, where none is to be kept', () => {
    const cells = createCells(0)
    cells.of('a')
    cells.trim()
    expect(cells.get('a')).toBeUndefined()
  })
})
