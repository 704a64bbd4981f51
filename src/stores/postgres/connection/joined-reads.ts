/**
 * Joins reads of the same kind. While statements are under way, further calls wait and share the next one. A statement costs
 * the server and the driver about as much for one key as for ten.
 */

/** More would compete for the connections that read. */
const MOST_UNDER_WAY = 2
/** Keys in one statement. */
const MOST_KEYS = 128

interface Call<K, V> {
  readonly key: K
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/** @param ask reads the values of keys, in their order. It begins after the calls whose keys it has. */
export function joined<K, V>(
  ask: (keys: readonly K[]) => Promise<readonly V[]>,
): (key: K) => Promise<V> {
  const waiting: Call<K, V>[] = []
  let underWay = 0
  let isScheduled = false

  function send(): void {
    if (waiting.length === 0 || underWay === MOST_UNDER_WAY) return
    const calls = waiting.splice(0, MOST_KEYS)
    underWay++
    const next = (): void => {
      underWay--
      send()
    }
    answer(calls).then(next, next)
    send()
  }

  async function answer(calls: readonly Call<K, V>[]): Promise<void> {
    try {
      const values = await ask(calls.map(({ key }) => key))
      for (const [n, value] of values.entries()) calls[n]?.resolve(value)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  /** Calls of one event-loop turn share a statement. */
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      send()
    })
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      schedule()
    })
}
