/** A store that fails, waits and counts as the test says. It is a port, so tests may bring their own. */
import { LullError } from '../../core/errors.ts'
import type { Commit } from '../../ports/store/tasks.ts'
import type { Store } from '../../ports/store.ts'
import { createMemoryStore } from '../../stores/memory/memory-store.ts'
import { type Signal, signal } from './engine-harness.ts'

export interface FaultyStore {
  readonly store: Store
  /** The sizes of the batches that were written. */
  readonly batches: readonly number[]
  /** While true, no write succeeds; nothing is written. */
  writesFail: boolean
  readsFail: boolean
  /** Commits whose content the store refuses, each alone. */
  refuses: (commit: Commit) => boolean
  /** Commits at which the store as a whole cannot write: the batch fails. */
  breaksAt: (commit: Commit) => boolean
  /** Commits wait, written or not, until the signal fires. */
  hold(): Signal
}

const writing: ReadonlySet<string | symbol> = new Set([
  'commit',
  'appendEvents',
  'setValue',
  'replaceValue',
  'replaceSession',
  'replacePush',
  'putHold',
  'claim',
  'reply',
  'check',
])

export function createFaultyStore(inner: Store = createMemoryStore()): FaultyStore {
  const batches: number[] = []
  let held: Signal | undefined
  const faulty: FaultyStore = {
    store: new Proxy(inner, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver)
        if (typeof member !== 'function') return member
        return async (...args: readonly unknown[]) => {
          const fails = writing.has(name) ? faulty.writesFail : faulty.readsFail
          if (name === 'commit') return commit(args[0] as readonly Commit[])
          if (fails) throw new LullError('STORE_UNAVAILABLE', { why: 'the disk is on fire' })
          return Reflect.apply(member, target, args)
        }
      },
    }),
    batches,
    writesFail: false,
    readsFail: false,
    refuses: () => false,
    breaksAt: () => false,
    hold() {
      held = signal()
      return held
    },
  }

  async function commit(batch: readonly Commit[]) {
    await held?.promise
    if (faulty.writesFail || batch.some((one) => faulty.breaksAt(one)))
      throw new Error('the disk is on fire')
    batches.push(batch.length)
    const bad = new Set(batch.filter((one) => faulty.refuses(one)))
    const results = [...(await inner.commit(batch.filter((one) => !bad.has(one))))]
    return batch.map((one) =>
      bad.has(one)
        ? ({ status: 'failed', kind: 'content', error: new Error('this row alone') } as const)
        : (results.shift() ?? ({ status: 'failed', error: new Error('no answer') } as const)),
    )
  }
  return faulty
}
