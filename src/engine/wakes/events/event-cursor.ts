/**
 * Remembers how far events have been dispatched. The cursor is stored: every task that waited has
 * been offered every event up to it. A cursor that is too low is harmless, because after a crash
 * the events after it are dispatched again.
 */
import type { StoredEvent } from '../../../core/waiting/cloud-event.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../ports/log.ts'
import type { EventKey } from '../../../ports/store/events.ts'
import type { KeyValueStore } from '../../../ports/store/key-values.ts'
import { least } from '../../limits/least.ts'

export interface EventCursor {
  /** The position of the tenant's newest event that this process knows. */
  readonly lastPos: (tenant: string) => number
  /** Called when events of the tenant up to this position are known to exist. */
  advance(tenant: string, pos: number): void
  /** Sets the position of the tenant's newest event. Later ones that this process knew are lost. */
  reset(tenant: string, pos: number): void
  /**
   * Called when the dispatch of an event begins. The cursor stays before the event until `finish`.
   */
  begin(event: StoredEvent): void
  /** The event has been offered to every task that waited. */
  finish(event: EventKey): void
  /** Reads the saved cursor. Events after it have to be dispatched. */
  load(): Promise<number>
  /**
   * Called when every event after the loaded cursor has been dispatched, or its dispatch has begun.
   */
  caughtUp(): void
  /**
   * Whether events left by an earlier process may still be undispatched. Until then the cursor does
   * not move.
   */
  readonly isBehind: () => boolean
  /** Events received at this time or later may not be dispatched yet, so retention keeps them. */
  readonly keptFrom: () => number
  /** Saves the cursor if it moved. Never rejects. */
  save(): Promise<void>
}

/** In place of a tenant, where an embedded store is asked for its one number line. */
export const EVERY = ''

/** The name of the stored value. */
export const EVENT_CURSOR = 'events.dispatched'

/** The cursor of an embedded store, which has one number line for the events of all tenants. */
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
    advance: (_tenant, pos) => {
      lastPos = Math.max(lastPos, pos)
    },
    reset: (_tenant, pos) => {
      lastPos = pos
    },
    begin: ({ pos, receivedAt }) => {
      undispatched.set(pos, receivedAt)
    },
    finish: ({ pos }) => {
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

/** Calls `save` once, `ms` after the first call of `soon`. */
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
