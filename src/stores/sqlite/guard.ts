import { isUnreadable, toStoreError } from './failures.ts'

export interface Guard {
  /** Wraps a method: driver errors become `STORE_UNAVAILABLE`, and every error a rejection. */
  guarded<A extends readonly unknown[], R>(method: (...args: A) => R): (...args: A) => Promise<R>
  /** Throws if a call has found the file damaged. Only a restart of the process resets this. */
  checkUndamaged(): void
}

export function createGuard(): Guard {
  let damage: unknown
  return {
    guarded:
      (method) =>
      async (...args) => {
        try {
          return method(...args)
        } catch (error) {
          const failure = toStoreError(error)
          if (isUnreadable(error)) damage = failure
          throw failure
        }
      },
    checkUndamaged() {
      if (damage !== undefined) throw damage
    },
  }
}
