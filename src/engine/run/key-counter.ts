/** Counts the operations of a run, so that each has a key of its own (`keys.ts`). */
import { LullError } from '../../core/errors.ts'
import { escapeName } from './keys.ts'

export class KeyCounter {
  #counts: Map<string, number> | undefined

  /** The key of the next operation of that kind and name. */
  next(prefix: string, kind: string, name: string): string {
    const stem = stemOf(prefix, kind, name)
    this.#counts ??= new Map()
    const occurrence = (this.#counts.get(stem) ?? 0) + 1
    this.#counts.set(stem, occurrence)
    return `${stem}#${occurrence}`
  }

  /** The key that `next` would return. */
  peek(prefix: string, kind: string, name: string): string {
    const stem = stemOf(prefix, kind, name)
    return `${stem}#${(this.#counts?.get(stem) ?? 0) + 1}`
  }

  /** The key the author chose. @throws LullError `INVALID_INPUT` when it was used before */
  chosen(prefix: string, kind: string, chosen: string): string {
    const key = `${prefix}${kind}:${escapeName(chosen)}#key`
    this.#counts ??= new Map()
    if (this.#counts.has(key)) {
      throw new LullError('INVALID_INPUT', { path: 'key', problem: `"${chosen}" was used before` })
    }
    this.#counts.set(key, 1)
    return key
  }

  /** Starts to count again under the prefix, because a step's function runs again. */
  restart(prefix: string): void {
    const counts = this.#counts
    if (counts === undefined) return
    for (const stem of counts.keys()) if (stem.startsWith(prefix)) counts.delete(stem)
  }
}

function stemOf(prefix: string, kind: string, name: string): string {
  return `${prefix}${kind}:${escapeName(name)}`
}
