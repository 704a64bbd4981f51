/**
 * What comes and goes by the id of a task. Not a `Map`: V8 keeps the former tables of a map it rehashes, each with what was
 * in it, until the next full collection, so that everything that ever passed through would be copied around by the small
 * ones.
 */
export class ById<T> {
  #entries: Record<string, T> = Object.create(null)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: string): T | undefined {
    return this.#entries[id]
  }

  has(id: string): boolean {
    return this.#entries[id] !== undefined
  }

  set(id: string, value: T): void {
    if (!this.has(id)) this.#size++
    this.#entries[id] = value
  }

  delete(id: string): void {
    if (!this.has(id)) return
    this.#size--
    delete this.#entries[id]
  }

  values(): readonly T[] {
    return Object.values(this.#entries)
  }

  clear(): void {
    this.#entries = Object.create(null)
    this.#size = 0
  }
}
