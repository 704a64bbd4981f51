/**
 * What comes and goes by the id of a task. A `Map` that is begun anew every so often: V8 links the former tables of a map it
 * rehashes to the next, so that once one of them has grown old, everything that ever passes through is copied around by
 * the small collections, until the next full one.
 */
export class ById<T> {
  #entries = new Map<string, T>()
  #untilAnew = ANEW

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
    if (--this.#untilAnew === 0) {
      this.#entries = new Map(this.#entries)
      this.#untilAnew = ANEW + this.#entries.size
    }
    this.#entries.set(id, value)
  }

  delete(id: string): void {
    this.#entries.delete(id)
  }

  values(): readonly T[] {
    return [...this.#entries.values()]
  }

  clear(): void {
    this.#entries = new Map()
  }
}

const ANEW = 64
