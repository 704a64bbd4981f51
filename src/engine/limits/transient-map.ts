/**
 * A `Map` for entries that come and go quickly, such as one per running task. It copies itself into a new `Map` every 64
 * insertions or so.
 *
 * What it buys: without it a send costs 6 to 10 % more CPU time on the main thread, a stream 10 % (docs/benchmarks.md).
 * V8 links the former table of a rehashed map to the next one. Once one of these tables has been promoted to the old
 * generation, every entry that ever passes through the map survives the small collections until the next full one.
 */
export class TransientMap<T> {
  #entries = new Map<string, T>()
  #untilCopy = COPY_AFTER

  get size(): number {
    return this.#entries.size
  }

  get(id: string): T | undefined {
    return this.#entries.get(id)
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  set(id: string, value: T): void {
    if (--this.#untilCopy === 0) {
      this.#entries = new Map(this.#entries)
      this.#untilCopy = COPY_AFTER + this.#entries.size
    }
    this.#entries.set(id, value)
  }

  delete(id: string): void {
    this.#entries.delete(id)
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  values(): readonly T[] {
    return [...this.#entries.values()]
  }

  clear(): void {
    this.#entries = new Map()
  }
}

const COPY_AFTER = 64
