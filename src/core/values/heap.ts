/** A binary heap: adding a value, and taking the first one, compare it with few others, however many there are. */
export class Heap<T> {
  readonly #isBefore: (one: T, other: T) => boolean
  readonly #values: T[] = []

  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#values.length
  }

  get first(): T | undefined {
    return this.#values[0]
  }

  add(value: T): void {
    const values = this.#values
    let at = values.push(value) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = values[above] as T
      if (!this.#isBefore(value, parent)) break
      values[at] = parent
      at = above
    }
    values[at] = value
  }

  takeFirst(): T | undefined {
    const values = this.#values
    const [first] = values
    const last = values.pop()
    if (last === undefined || values.length === 0) return first
    let at = 0
    for (let below = 1; below < values.length; below = 2 * at + 1) {
      const [left, right] = [values[below] as T, values[below + 1]]
      if (right !== undefined && this.#isBefore(right, left)) below++
      const child = values[below] as T
      if (!this.#isBefore(child, last)) break
      values[at] = child
      at = below
    }
    values[at] = last
    return first
  }
}
