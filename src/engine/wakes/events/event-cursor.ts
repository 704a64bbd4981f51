/**
 * How far events have been dispatched. The cursor is in the store: every event up to it has been offered to every task
 * that waited for it. A cursor that is behind is harmless. After a crash, the events behind it are dispatched again.
 */
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../ports/log.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { least } from '../../limits/least.ts'

export interface EventCursor {
  /** The position of the newest event that this process knows. */
  readonly lastPos: () => number
  /** Events exist up to this position. */
  advance(pos: number): void
  /** This is the position of the newest event. Those that were known behind it are lost. */
  reset(pos: number): void
  /** The event is not dispatched yet. The cursor stays before it. */
  begin(event: Pick<StoredEvent, 'pos' | 'receivedAt'>): void
  /** The event has been offered to every task that waited. */
  finish(pos: number): void
  /** Reads the cursor that was saved last. The events behind it are to be dispatched. */
  load(): Promise<number>
  /** Every event behind the loaded cursor has been dispatched, or has begun to be. */
  caughtUp(): void
  /** Whether events of an earlier process may not be dispatched yet. Until then the cursor does not move. */
  readonly isBehind: () => boolean
  /** Events that were received at this time or later may not be dispatched yet. */
  readonly keptFrom: () => number
  /** Saves the cursor if it moved. Never rejects. */
  save(): Promise<void>
}

/** The name of the value that keeps the cursor. */
export const EVENT_CURSOR = 'events.dispatched'

export function createEventCursor(deps: {
  readonly store: KeyValueStore
  readonly log: Log
}): EventCursor {
  const { store, log } = deps
  let lastPos = 0
  let saved = 0
  let behind = true
  /** When each event that is not dispatched was received, by its position. */
  const undispatched = new Map<number, number>()

  async function save(): Promise<void> {
    if (behind) return
    const reached = Math.min(lastPos, least(undispatched.keys()) - 1)
    if (reached <= saved) return
    try {
      await store.setValue(EVENT_CURSOR, reached)
      saved = reached
    } catch (error) {
      log('warn', 'the event cursor could not be saved', { error })
    }
  }

  return {
    lastPos: () => lastPos,
    advance: (pos) => {
      lastPos = Math.max(lastPos, pos)
    },
    reset: (pos) => {
      lastPos = pos
    },
    begin: ({ pos, receivedAt }) => {
      undispatched.set(pos, receivedAt)
    },
    finish: (pos) => {
      undispatched.delete(pos)
    },
    async load() {
      const cursor = await store.getValue(EVENT_CURSOR)
      saved = typeof cursor === 'number' ? cursor : 0
      return saved
    },
    caughtUp: () => {
      behind = false
    },
    isBehind: () => behind,
    keptFrom: () => (behind ? Number.NEGATIVE_INFINITY : least(undispatched.values())),
    save,
  }
}

/** Calls `save` once, `ms` after the first `soon`. */
export interface DelayedSave {
  soon(): void
  cancel(): void
}

export function createDelayedSave(clock: Clock, ms: number, save: () => void): DelayedSave {
  let cancelTimer: (() => void) | undefined
  return {
    soon() {
      cancelTimer ??= clock.after(ms, () => {
        cancelTimer = undefined
        save()
      })
    },
    cancel() {
      cancelTimer?.()
      cancelTimer = undefined
    },
  }
}
