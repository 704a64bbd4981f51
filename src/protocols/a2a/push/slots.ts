/**
 * How many deliveries are under way at once: in all, and to one host. Each has a socket, and a process that has used up its
 * sockets can accept no request either. The others wait in order; a host that does not answer holds up only its own.
 */
export interface Slots {
  /** Runs the work when there is a slot for the host, and frees the slot however the work ends. */
  during<T>(host: string, work: () => Promise<T>): Promise<T>
}

export interface SlotLimits {
  readonly total: number
  readonly perHost: number
}

export const defaultSlots: SlotLimits = { total: 64, perHost: 8 }

export function createSlots({ total, perHost }: SlotLimits = defaultSlots): Slots {
  const busy = new Map<string, number>()
  const waiting: { readonly host: string; readonly start: () => void }[] = []
  let open = 0

  function isFree(host: string): boolean {
    return open < total && (busy.get(host) ?? 0) < perHost
  }

  function take(host: string): void {
    open++
    busy.set(host, (busy.get(host) ?? 0) + 1)
  }

  function free(host: string): void {
    open--
    const left = (busy.get(host) ?? 1) - 1
    if (left === 0) busy.delete(host)
    else busy.set(host, left)
    const next = waiting.findIndex((one) => isFree(one.host))
    const [started] = next === -1 ? [] : waiting.splice(next, 1)
    started?.start()
  }

  return {
    async during(host, work) {
      if (!isFree(host)) {
        await new Promise<void>((resolve) => {
          const start = (): void => {
            take(host)
            resolve()
          }
          waiting.push({ host, start })
        })
      } else take(host)
      try {
        return await work()
      } finally {
        free(host)
      }
    },
  }
}
