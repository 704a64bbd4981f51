/** Counts the operations of a run, so that each has a key of its own (`keys.ts`). */
import { LullError } from '../../../core/errors.ts'
import { escapeName } from './keys.ts'

export class KeyCounter {
  /** By prefix, and then by kind and name. */
  #counts: Map<string, Map<string, number>> | undefined

  /** The key of the next operation of that kind and name. */
  next(prefix: string, kind: string, name: string): string {
    const stem = stemOf(kind, name)
    const counts = this.#under(prefix)
    const occurrence = (counts.get(stem) ?? 0) + 1
    counts.set(stem, occurrence)
    return `${prefix}${stem}#${occurrence}`
  }

  /** The key that `next` would return. */
  peek(prefix: string, kind: string, name: string): string {
    const stem = stemOf(kind, name)
    return `${prefix}${stem}#${(this.#counts?.get(prefix)?.get(stem) ?? 0) + 1}`
  }

  /** The key the author chose. @throws LullError `INVALID_INPUT` when it was used before */
  chosen(prefix: string, kind: string, chosen: string): string {
    const key = `${stemOf(kind, chosen)}#key`
    const counts = this.#under(prefix)
    if (counts.has(key)) {
      throw new LullError('INVALID_INPUT', { path: 'key', problem: `"${chosen}" was used before` })
    }
    counts.set(key, 1)
    return `${prefix}${key}`
  }

  /** Starts to count again under the prefix, because a step's function runs again. A step inside of it does so itself. */
  restart(prefix: string): void {
    this.#counts?.delete(prefix)
  }

  #under(prefix: string): Map<string, number> {
    this.#counts ??= new Map()
    const known = this.#counts.get(prefix)
    if (known !== undefined) return known
    const counts = new Map<string, number>()
    this.#counts.set(prefix, counts)
    return counts
  }
}

function stemOf(kind: string, name: string): string {
  return `${kind}:${escapeName(name)}`
}
