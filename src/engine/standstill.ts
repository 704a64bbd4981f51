/** Tasks that something is about to stop while they have no run to be told: whoever would start one waits. */
export interface Standstill {
  begin(taskId: string): void
  end(taskId: string): void
  has(taskId: string): boolean
  /** Resolves when it may start; at once where nothing stops it. */
  over(taskId: string): Promise<void> | undefined
}

export function createStandstill(): Standstill {
  const stopped = new Map<string, { readonly over: Promise<void>; readonly end: () => void }>()
  return {
    begin(taskId) {
      if (stopped.has(taskId)) return
      let end: () => void = () => undefined
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      stopped.set(taskId, { over, end })
    },
    end(taskId) {
      stopped.get(taskId)?.end()
      stopped.delete(taskId)
    },
    has: (taskId) => stopped.has(taskId),
    over: (taskId) => stopped.get(taskId)?.over,
  }
}
