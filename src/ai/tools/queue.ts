/** Starts work in the order of the calls, at most `concurrency` at the same time. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>

export function createQueue(concurrency: number): Queue {
  const waiting: (() => void)[] = []
  let running = 0

  const next = (): void => {
    if (running >= concurrency) return
    const start = waiting.shift()
    if (start === undefined) return
    running++
    start()
  }

  return async (work) => {
    const turn = new Promise<void>((start) => {
      waiting.push(start)
    })
    next()
    await turn
    try {
      return await work()
    } finally {
      running--
      next()
    }
  }
}
