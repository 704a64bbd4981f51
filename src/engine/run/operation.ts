import type { CallSite } from './code-place.ts'
import type { Entry } from './journal.ts'

/** One journaled `task.*` call. */
export interface Operation<T> {
  readonly key: string
  /** Compared with the recorded fingerprint. If they differ, the code has changed. */
  readonly fingerprint?: string
  /** Returns the recorded result or throws the recorded failure. Undefined if the entry is of another kind. */
  readonly replay: (entry: Entry) => { readonly value: T } | undefined
  readonly live: (site: CallSite) => Promise<Finished<T>>
  /** The operation has no effect outside of the task, so it may be new at any place of the code. */
  readonly harmless?: true
  /** The agent declares the operation as new (`added`). */
  readonly added?: true
}

/** An operation whose record is durable. */
export interface Finished<T> {
  readonly seq: number
  readonly settle: () => T
}
