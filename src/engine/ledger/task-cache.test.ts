import { describe, expect, it } from 'vitest'
import type { Task } from '../../core/task.ts'
import { createTaskCache } from './task-cache.ts'
import { move } from './task-entry.ts'

const large = 1e9

describe('the tasks in memory', () => {
  it('T1: are as many as the limit says, the most recently used ones', () => {
    const cache = createTaskCache({ tasks: 4, bytes: large })
    for (let n = 0; n < 20; n++) {
      cache.use(`task-${n}`)
      cache.use('often')
    }
    expect(cache.get('task-0')).toBeUndefined()
    expect(cache.get('task-19')).toBeDefined()
    expect(cache.get('often')).toBeDefined()
    expect(cache.entries().size).toBeLessThanOrEqual(5)
  })

  it('T1: are few where they are large', () => {
    const cache = createTaskCache({ tasks: 1_000, bytes: 1_000 })
    for (let n = 0; n < 50; n++) cache.grow(cache.use(`task-${n}`), 300)
    expect(cache.entries().size).toBeLessThanOrEqual(5)
    expect(cache.get('task-49')).toBeDefined()
  })

  it('T1: are dropped also where one of them grows', () => {
    const cache = createTaskCache({ tasks: 1_000, bytes: 1_000 })
    for (let n = 0; n < 10; n++) cache.use(`task-${n}`)
    for (let n = 0; n < 10; n++) {
      cache.grow(cache.use('growing'), 200)
      cache.trim()
    }
    expect([...cache.entries()].map(({ id }) => id)).toEqual(['growing'])
  })

  it('T2: stay while something is under way for them, with one entry each', () => {
    const cache = createTaskCache({ tasks: 2, bytes: large })
    const busy = cache.use('busy')
    move(busy, 'queued')
    for (let n = 0; n < 50; n++) {
      cache.use(`task-${n}`)
      if (n % 7 === 0) expect(cache.use('busy')).toBe(busy)
      expect(cache.get('busy')).toBe(busy)
    }
    move(busy, 'idle')
    for (let n = 0; n < 5; n++) cache.use(`other-${n}`)
    expect(cache.get('busy')).toBeUndefined()
  })

  it('T3: of a tenant stay while another one uses many tasks', () => {
    const cache = createTaskCache({ tasks: 40, bytes: large })
    const use = (tenant: string, id: string): void => {
      cache.use(id).task = { id, tenant } as Task
    }
    for (const tenant of ['small', 'other'])
      for (let n = 0; n < 20; n++) use(tenant, `${tenant}-${n}`)
    for (let n = 0; n < 500; n++) use('hot', `hot-${n}`)
    const kept = (tenant: string): number =>
      [...cache.entries()].filter(({ task }) => task?.tenant === tenant).length
    // A quarter of the cache has ten tasks, so each of the three tenants has at least three.
    expect(Math.min(kept('small'), kept('other'))).toBeGreaterThanOrEqual(3)
    expect(cache.get('small-19')).toBeDefined()
    expect(cache.get('hot-499')).toBeDefined()
    expect(cache.entries().size).toBeLessThanOrEqual(41)
  })

  it('T3: of a tenant stay while another one uses large tasks, and are not too large themselves', () => {
    const cache = createTaskCache({ tasks: 1_000, bytes: 4_000 })
    const use = (tenant: string, id: string, bytes: number): void => {
      const entry = cache.use(id)
      entry.task = { id, tenant } as Task
      cache.grow(entry, bytes)
    }
    use('large', 'large-1', 3_000)
    use('small', 'small-1', 300)
    for (let n = 0; n < 50; n++) use('hot', `hot-${n}`, 900)
    expect(cache.get('small-1')).toBeDefined()
    expect(cache.get('large-1')).toBeUndefined()
  })

  it('T4: cost each call the same, however many are in use, and are dropped when they are not', () => {
    const cache = createTaskCache({ tasks: 10, bytes: large })
    const tasks = 4_000
    let reads = 0
    const entries = Array.from({ length: tasks }, (_, n) => {
      const entry = cache.use(`task-${n}`)
      const { id } = entry
      const get = (): string => {
        reads++
        return id
      }
      move(Object.defineProperty(entry, 'id', { get }), 'queued')
      return entry
    })
    expect(cache.entries().size).toBe(tasks)
    for (const entry of entries) {
      move(entry, 'idle')
      cache.trim()
    }
    for (let n = 0; n < 10; n++) cache.use(`later-${n}`)
    expect(cache.entries().size).toBeLessThanOrEqual(20)
    expect(reads).toBeLessThan(20 * tasks)
  })

  it('T1: are none where the limit is none', () => {
    const cache = createTaskCache({ tasks: 0, bytes: large })
    cache.use('a')
    cache.trim()
    expect(cache.get('a')).toBeUndefined()
  })
})
