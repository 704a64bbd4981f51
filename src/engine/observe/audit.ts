/**
 * Who did what: control of tasks, holds, keys, and attempts that were refused. Invariants (audit.test.ts):
 *  A1  entries are only added; an operator reads those of its tenant, and `*` reads all of them;
 *  A2  no caller waits for the audit log: entries are written together, after a moment;
 *  A3  a caller that is refused again and again fills nothing: after the first 20 of a minute its attempts are counted, and
 *      those of all callers that are not known after the first 200;
 *  A4  an entry has names and ids, never content;
 *  A5  an entry of an attempt on a task does not tell whether another caller has a task of that id.
 */

import { isLullError } from '../../core/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdSource } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import type { AuditEntry, AuditQuery, AuditStore } from '../../ports/store/audit.ts'
import { ALL_TENANTS, type Caller, scopeOf } from '../caller.ts'

/** What happened, without the members that the audit log adds. */
export type AuditNote = Omit<AuditEntry, 'id' | 'at'>

export interface AuditRequest {
  readonly principal?: string | undefined
  readonly taskId?: string | undefined
  /** Epoch milliseconds. */
  readonly since?: number | undefined
  /** `asc`, the default: oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc' | undefined
  /** The last entry that was read. The answer has those that follow it in this order. */
  readonly after?: AuditQuery['after']
  readonly limit?: number | undefined
}

export interface Audit {
  /** Never throws and never waits. `given` is for what happened before, and for what several processes may note. */
  note(entry: AuditNote, given?: Pick<AuditEntry, 'id' | 'at'>): void
  /** Notes what a caller did, or why it was refused, when the work has ended. */
  during<T>(caller: Caller, action: AuditedAction<T>, work: () => Promise<T>): Promise<T>
  /** Only for operators. */
  read(caller: Caller, request: AuditRequest): Promise<readonly AuditEntry[]>
  /** Writes what is not written yet. */
  flush(): Promise<void>
}

export interface AuditedAction<T> {
  readonly action: string
  readonly taskId?: unknown
  readonly target?: unknown
  /** What was made. */
  readonly targetOf?: (result: T) => string
  /** The action of what was done. Undefined: `action`, and nothing with `onlyRefused`. */
  doneAs?(result: T): string | undefined
  /** Only refusals are noted, for what is harmless when it is allowed. */
  readonly onlyRefused?: boolean
}

const WRITE_MS = 100
/** Entries that wait for a store that does not answer. Later ones are dropped and counted. */
const MOST_WAITING = 10_000
const LONGEST_NAME = 256

export function createAudit(deps: {
  readonly store: AuditStore
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
}): Audit {
  const { store, clock, ids, log } = deps
  const refusals: Refusals = createRefusals(clock, add)
  let waiting: AuditEntry[] = []
  let dropped = 0
  let isPlanned = false
  let writing: Promise<void> = Promise.resolve()

  function add(note: AuditNote, given?: Pick<AuditEntry, 'id' | 'at'>): void {
    if (waiting.length >= MOST_WAITING) dropped++
    else waiting.push({ ...(given ?? { id: ids.uuid(), at: clock.now() }), ...note })
    if (isPlanned) return
    isPlanned = true
    clock.after(WRITE_MS, () => void flush())
  }

  function flush(): Promise<void> {
    isPlanned = false
    writing = writing.then(write)
    return writing
  }

  async function write(): Promise<void> {
    const entries = waiting
    waiting = []
    if (entries.length === 0) return
    try {
      await store.appendAudit(entries)
      if (dropped > 0) log('warn', 'entries of the audit log were dropped', { dropped })
      dropped = 0
    } catch (error) {
      waiting = [...entries, ...waiting]
      log('warn', 'the audit log could not be written; trying again', { error })
      if (!isPlanned) {
        isPlanned = true
        clock.after(WRITE_MS * 10, () => void flush())
      }
    }
  }

  const note: Audit['note'] = (entry, given) => {
    if (entry.outcome === 'done') add(entry, given)
    else refusals.note(entry)
  }

  return {
    note,
    async during(caller, action, work) {
      try {
        const result = await work()
        const doneAs = action.doneAs?.(result)
        if (action.onlyRefused === true && doneAs === undefined) return result
        const target = action.targetOf?.(result) ?? action.target
        note(noteOf(caller, { ...action, action: doneAs ?? action.action, target }, 'done'))
        return result
      } catch (error) {
        const outcome = isLullError(error) ? error.code : 'INTERNAL'
        if (action.onlyRefused !== true || hiding.has(outcome)) {
          note(noteOf(caller, action, outcome))
        }
        throw error
      }
    },
    async read(caller, { principal, taskId, since, order, after, limit = 100 }) {
      await flush()
      const { tenant } = scopeOf({ ...caller, operator: true })
      const filter = { tenant, principal, taskId, since }
      return store.audit({ ...filter, order, after, limit })
    },
    flush: () => {
      refusals.end()
      return flush()
    },
  }
}

/** Refused calls of ordinary use are logged only with these codes: they may be attempts on another caller's task. */
const hiding: ReadonlySet<string> = new Set(['TASK_NOT_FOUND', 'FORBIDDEN', 'CONSENT_NOT_YOURS'])

function noteOf(
  caller: Caller,
  { action, taskId, target }: Pick<AuditedAction<never>, 'action' | 'taskId' | 'target'>,
  outcome: string,
): AuditNote {
  const { tenant, principal, operator, credential } = caller
  return {
    tenant,
    principal,
    ...(operator === true ? { operator } : {}),
    ...(credential === undefined ? {} : { credential }),
    action,
    ...named('taskId', taskId),
    ...named('target', target),
    outcome,
  }
}

function named<K extends string>(name: K, value: unknown): { readonly [_ in K]?: string } {
  if (typeof value !== 'string') return {}
  return { [name]: value.slice(0, LONGEST_NAME) } as { readonly [_ in K]?: string }
}

/** An attempt of a caller that is not known. */
export function ofStranger(from: string | undefined, target: string, outcome: string): AuditNote {
  return {
    tenant: ALL_TENANTS,
    action: 'request',
    target: target.slice(0, LONGEST_NAME),
    outcome,
    ...(from === undefined ? {} : { from }),
  }
}

/**
 * Bounds how many refused attempts are listed in a minute: the first ones of each caller, and the first ones of all callers
 * that are not known. Further ones are counted.
 */
interface Refusals {
  note(entry: AuditNote): void
  /** Adds the counts of the minute that is under way. */
  end(): void
}

const MINUTE_MS = 60_000
const LISTED = 20
/** Of all strangers together, because a stranger may have any number of addresses. */
const STRANGERS_LISTED = 200
/** Callers that are told apart. The others are counted together. */
const CALLERS = 1_000

interface Counted {
  readonly last: AuditNote
  readonly listed: number
  readonly further: number
}

export function createRefusals(
  clock: Pick<Clock, 'now' | 'after'>,
  add: (note: AuditNote) => void,
): Refusals {
  const counted = new Map<string, Counted>()
  let strangersListed = 0
  let isPlanned = false

  function end(): void {
    isPlanned = false
    for (const { last, further } of counted.values()) {
      if (further === 0) continue
      const { taskId: _task, target: _target, ...who } = last
      add({ ...who, further })
    }
    counted.clear()
    strangersListed = 0
  }

  /** Counts the attempt. Returns whether it is listed. */
  function count(entry: AuditNote): boolean {
    const { tenant, principal, action, outcome } = entry
    const from = networkOf(entry.from)
    const isStranger = principal === undefined
    const own = JSON.stringify([tenant, principal, from, action, outcome])
    const isFull = isStranger
      ? strangersListed >= STRANGERS_LISTED
      : counted.size >= CALLERS && !counted.has(own)
    const key = isFull ? JSON.stringify([action, outcome]) : own
    const last = isFull ? { tenant: '*', action, outcome } : { ...entry, from }
    const { listed, further } = counted.get(key) ?? { listed: 0, further: 0 }
    const isListed = listed < LISTED && !(isFull && isStranger)
    counted.set(
      key,
      isListed ? { last, listed: listed + 1, further } : { last, listed, further: further + 1 },
    )
    if (isListed && isStranger) strangersListed++
    return isListed
  }

  return {
    note(entry) {
      if (count(entry)) add(entry)
      if (isPlanned) return
      isPlanned = true
      clock.after(MINUTE_MS, end)
    },
    end,
  }
}

/** The part of an address that one owner has: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string | undefined): string | undefined {
  const [plain = ''] = address?.split('%') ?? []
  if (!plain.includes(':')) return address
  // An IPv4 address, as a socket for both families shows it: `::ffff:192.0.2.1`.
  if (plain.includes('.')) return plain.slice(plain.lastIndexOf(':') + 1)
  const [left = [], right = []] = plain.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = [...left, ...zeros, ...right].map((group) => group.replace(/^0+(?=.)/, ''))
  return `${groups.slice(0, 4).join(':').toLowerCase()}::/64`
}
