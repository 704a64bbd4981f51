import { expect, it } from 'vitest'
import { untilStopped } from './stop-signals.ts'

function open() {
  const handlers = new Map<string, () => void>()
  const exits: number[] = []
  let now = 0
  let finish: () => void = () => undefined
  const closed = new Promise<void>((resolve) => {
    finish = resolve
  })
  let closes = 0
  const stopped = untilStopped(
    {
      on: (signal, handler) => handlers.set(signal, handler),
      elapsed: () => now,
      exit: (code) => exits.push(code),
      say: () => undefined,
    },
    () => {
      closes++
      return closed
    },
  )
  return {
    stopped,
    exits,
    finish,
    closes: () => closes,
    async signal(name: string, at: number) {
      now = at
      handlers.get(name)?.()
      await Promise.resolve()
    },
  }
}

it('closes at the first signal, and is done when that is done', async () => {
  const process = open()
  await process.signal('SIGTERM', 0)
  process.finish()
  await process.stopped
  expect(process.closes()).toBe(1)
})

it('takes the second Ctrl-C of a pair for the same one', async () => {
  const process = open()
  await process.signal('SIGINT', 0)
  await process.signal('SIGINT', 3)
  expect(process.exits).toEqual([])
  expect(process.closes()).toBe(1)
})

it('takes the second Ctrl-C of a pair for the same one, also when all is closed already', async () => {
  const process = open()
  await process.signal('SIGINT', 0)
  process.finish()
  await process.stopped
  await process.signal('SIGINT', 3)
  expect(process.exits).toEqual([])
})

it('ends at once when somebody insists', async () => {
  const process = open()
  await process.signal('SIGINT', 0)
  await process.signal('SIGINT', 3)
  await process.signal('SIGINT', 1_500)
  expect(process.exits).toEqual([130])
})
