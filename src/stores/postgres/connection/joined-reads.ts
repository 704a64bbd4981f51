/**
 * Joins reads of the same kind. While statements are under way, further calls wait and share the
 * next one. For the server and the driver, a statement with ten keys costs about as much as one
 * with a single key.
 */

/** More statements would take connections from other reads. */
const MOST_UNDER_WAY = 2
/** The most keys in one statement. */
const MOST_KEYS = 128

interface Call<K, V> {
  readonly key: K
  readonly resolve: (value: V) => void
  readonly reject: (error: unknown) => void
}

/**
 * @param ask reads the values of the keys, in their order. It starts after the calls with these
 * keys, so they get no older data.
 */
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

  /** Lets the calls of one event-loop turn share a statement. */
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
