import { describe, expect, it } from 'vitest'
import { Releaser } from './releaser.ts'

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function releaser() {
  const seen: string[] = []
  const times: number[] = []
  let now = 0
  const made = new Releaser(
    () => now,
    { begins: () => undefined, ends: () => undefined, reacted: (ms) => times.push(ms) },
    { waiting: 0 },
    () => true,
  )
  const push = (seq: number, react: () => void = () => undefined, nested = false): void =>
    made.push(
      seq,
      () => {
        seen.push(`${seq}`)
        react()
      },
      { nested },
    )
  return { made, push, seen, times, pass: (ms: number) => (now += ms) }
}

describe('the releaser', () => {
  it('hands out results in the order of their records, not of their coming', async () => {
    const { push, seen } = releaser()
    for (const seq of [5, 3, 9, 4]) push(seq)
    await turns(10)
    expect(seen).toEqual(['3', '4', '5', '9'])
  })

  it('lets the code react before the next: what it asks for then may come first', async () => {
    const { push, seen } = releaser()
    push(3, () => {
      Promise.resolve()
        .then(() => undefined)
        .then(() => push(4))
        .catch(() => undefined)
    })
    push(5)
    await turns(10)
    expect(seen).toEqual(['3', '4', '5'])
  })

  it('while held keeps results back, except those inside a step; shut keeps all', async () => {
    const { push, seen, made } = releaser()
    made.hold()
    push(1)
    push(2, undefined, true)
    await turns(5)
    expect(seen).toEqual(['2'])
    made.shut()
    push(3, undefined, true)
    await turns(5)
    expect(seen).toEqual(['2'])
    expect(made.size).toBe(2)
    made.open()
    await turns(10)
    expect(seen).toEqual(['2', '1', '3'])
  })

  it('keeps a result in its place until what follows its record is done, and later ones behind it', async () => {
    const { made, seen, push } = releaser()
    let done = (): void => undefined
    const after = new Promise<void>((resolve) => {
      done = resolve
    })
    made.push(2, () => seen.push('2'), { after })
    push(3)
    push(1)
    await turns(10)
    expect(seen).toEqual(['1'])
    expect(made.ready).toBe(true)
    made.hold()
    push(4, undefined, true)
    await turns(5)
    expect(seen).toEqual(['1', '4'])
    made.open()
    done()
    await turns(10)
    expect(seen).toEqual(['1', '4', '2', '3'])
  })

  it('held after a result was scheduled still keeps it', async () => {
    const { push, seen, made } = releaser()
    push(1)
    made.hold()
    await turns(5)
    expect(seen).toEqual([])
    made.open()
    await turns(5)
    expect(seen).toEqual(['1'])
  })

  it('measures how long the code took, microtasks included', async () => {
    const { push, times, pass } = releaser()
    push(1, () => {
      pass(10)
      Promise.resolve()
        .then(() => pass(20))
        .catch(() => undefined)
    })
    push(2)
    await turns(10)
    expect(times).toEqual([30, 0])
  })
})
