/**
 * Sub-tasks: `task.delegate`, and the `Child` object that it returns. The child's id is in the parent's log before the
 * child exists, so a rebuilt parent finds the same child. While a run only waits for children, it needs no slot (W1 of
 * `gate.ts`).
 *
 * D1  A child that was delegated before the log was imported or forked is never created here: its steps may have run elsewhere.
 *     It is waited for until it is imported too.
 */

import { isLullError } from '../../../core/errors.ts'
import type { Part, PartInput } from '../../../core/messages/message.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { ChildResult, JournalRecord, LogRecord } from '../../../core/records.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Child } from '../../author/agent-task.ts'
import { whileStoreFails } from '../admission.ts'
import { agentCall, HandedIn, handInRecord, type OperationScope } from '../operation-runner.ts'
import { type Entry, recordOf } from '../replay/journal.ts'
import type { RunCore } from '../run-core.ts'
import { neverSettles } from '../run-writer.ts'
import { untilAborted } from './execution.ts'
import type { Passed } from './one-stop.ts'
import { readParts } from './outputs.ts'
import { revive } from './steps.ts'

export interface Children {
  delegate(agent: string, content: string | readonly PartInput[]): Promise<Child>
  /** Resolves when every child that was delegated to exists. */
  created(): Promise<void>
  /** The children the run waits for, one for each call. */
  readonly awaited: () => readonly string[]
  /** Whether a call waits for what a child does next, and not for its end. */
  readonly watching: () => boolean
}

export function createChildren(core: RunCore): Children {
  const { host, gate } = core
  const { children } = host
  const waits = createChildWaits(core)
  const childOf = createChildFactory(core, waits)
  const beingCreated = new Set<Promise<void>>()
  /** The children the task had before this run delegated to a first new one, and those it delegated to since. */
  let childrenBefore: number | undefined
  let delegatedNow = 0

  /** The schema refused the message. */
  function notDelegated(error: unknown): never {
    delegatedNow--
    throw error
  }

  /** Resolves when the record is written. Calls on the child wait until the child exists. */
  async function delegate(agent: string, content: string | readonly PartInput[]): Promise<Child> {
    const parts = readParts(content)
    // A recorded delegation was checked with the schema of its time.
    const isRecorded = wasDelegated(core.recordedNext('delegate', agent), parts)
    // Before the call has a key, because a refused call has no record.
    if (!isRecorded) {
      childrenBefore ??= core.task.children.length
      children.admit(core.task, childrenBefore + delegatedNow)
    }
    const checking = isRecorded ? undefined : children.check(agent, parts)
    const key = core.key('delegate', agent)
    const scope = core.scope
    if (!isRecorded) delegatedNow++
    const input = checking instanceof Promise ? await checking.catch(notDelegated) : checking
    return core.perform<Child>({
      key,
      replay: (entry) => {
        const delegated = recordOf(entry, 'delegated')
        if (delegated === undefined) return undefined
        const isPast = entry.seq <= core.journal.pastUpTo
        const exists = isPast ? undefined : track(gate.during(scope, () => create(delegated)))
        return { value: childOf(delegated, exists) }
      },
      live: () => {
        const { contextId } = core.task
        const message = { messageId: host.ids.uuid(), role: 'ROLE_USER', parts, contextId } as const
        const childId = host.ids.uuid()
        const delegated = { type: 'delegated', key, childId, agent, message } as const
        return recordAndCreate(scope, input === undefined ? delegated : { ...delegated, input })
      },
    })
  }

  /** The operation is in flight until the child exists, so the parent cannot stop before that. */
  function recordAndCreate(scope: OperationScope, delegated: Delegated): Promise<HandedIn<Child>> {
    return new Promise((resolve, reject) => {
      const exists = track(
        gate.during(scope, async () => {
          const written = core.record(delegated)
          const settle = (): Child => childOf(delegated, exists)
          resolve(HandedIn.record({ record: delegated, written }, settle))
          await written
          await create(delegated)
        }),
      )
      exists.catch(reject)
    })
  }

  /** Creating an existing child has no effect. */
  function create(delegated: Delegated): Promise<void> {
    return whileStoreFails(core, () => children.create(core.task, delegated))
  }

  /** The run does not end before its children exist. */
  function track(exists: Promise<void>): Promise<void> {
    beingCreated.add(exists)
    exists.catch(() => undefined).finally(() => beingCreated.delete(exists))
    return exists
  }

  return {
    delegate,
    created: async () => {
      await Promise.allSettled(beingCreated)
    },
    awaited: waits.awaited,
    watching: waits.watching,
  }
}

/** A refused call has no record, so the record may be of the next call. That one has another content. */
function wasDelegated(entry: Entry | undefined, parts: readonly Part[]): boolean {
  const recorded = entry && recordOf(entry, 'delegated')?.message.parts
  return recorded !== undefined && canonical(recorded) === canonical(parts)
}

type Delegated = JournalRecord & { readonly type: 'delegated' }

/** Resolves when the child is created. Undefined for a child that this task does not create (D1). */
type Exists = Promise<void> | undefined

/** Makes the `Child` object that the code of a parent gets. */
function createChildFactory(core: RunCore, waits: ChildWaits) {
  const { gate, host } = core
  const { children } = host

  /** Resolves when the child is in this store. A run that waits for an import of the child can be paused meanwhile. */
  async function whenHere(id: string, exists: Exists): Promise<void> {
    if (exists !== undefined) return exists
    const scope = core.scope
    const arrived = (): Promise<void> =>
      whileStoreFails(core, () => children.arrived(core.task, id, waits.signalOf(scope)))
    await waits.whileWatching(id, scope, arrived).catch((error: unknown) => {
      if (!core.dead) throw error
    })
    if (core.dead) await neverSettles()
    await gate.during(scope, () => undefined)
  }

  /** A call on a child is journaled, so that a rebuilt run does not repeat it. */
  async function control(
    id: string,
    exists: Exists,
    name: string,
    act: (key: string) => Promise<void>,
  ): Promise<void> {
    const key = core.key(`child-${name}`, id)
    const scope = core.scope
    await core.perform<void>({
      key,
      replay: (entry) => {
        const called = recordOf(entry, 'child-called')
        if (called?.failure !== undefined) throw revive(called.failure)
        return called && { value: undefined }
      },
      live: async () => {
        await whenHere(id, exists)
        const handed = await handInRecord(core, scope, async () => {
          const acted = whileStoreFails(core, () => act(key))
          const failure = await acted.then(() => undefined, describeError)
          const failed = failure === undefined ? {} : { failure }
          return { type: 'child-called', key, call: name, result: null, ...failed } as const
        })
        return HandedIn.record(handed, () => {
          const { failure } = handed.record
          if (failure !== undefined) throw revive(failure)
        })
      },
    })
  }

  /** While it waits, the run needs no slot and may leave memory. The end of the child loads it again. */
  function waitForResult(id: string, exists: Exists): Promise<ChildResult> {
    // The gate lets no stop begin while a step waits, so only waits outside of steps can meet one.
    return core.scope.inside === undefined
      ? core.oneStop.wait('result', (passed) => resultOf(id, exists, passed))
      : resultOf(id, exists)
  }

  async function resultOf(id: string, exists: Exists, passed?: Passed): Promise<ChildResult> {
    const key = core.key('child-result', id)
    const scope = core.scope
    const end = async (): Promise<ChildResult> => {
      const already = await children.result(core.task, id)
      if (already !== undefined) return already
      return waits.withoutSlot(id, scope, (signal) => children.ended(core.task, id, signal))
    }
    return core.perform<ChildResult>({
      key,
      isTaskOnly: true,
      waits: true,
      replay: (entry) => {
        const ended = recordOf(entry, 'child-ended')
        return ended && { value: ended.result }
      },
      live: async () => {
        const result = await gate.whileWaiting(async () => {
          await passed?.reacted
          const refused = passed?.refusal()
          if (refused !== undefined) throw refused
          await exists
          return stopIfUnreadable(id, scope, () => whileStoreFails(core, end))
        })
        const make = () => ({ type: 'child-ended', key, result }) as const
        return HandedIn.record(await handInRecord(core, scope, make), () => result)
      },
    })
  }

  /** Stops the task when the child cannot be read. After the stop, a rebuilt run makes the call again. */
  async function stopIfUnreadable<T>(
    id: string,
    { inside }: OperationScope,
    read: () => Promise<T>,
  ): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!isLullError(error, 'TASK_UNREADABLE')) throw error
      core.policy.childUnreadable(id, error.details.why)
      return inside === undefined ? neverSettles() : untilAborted(inside.signal)
    }
  }

  /** Not journaled: a rebuilt run reads the child's log from the beginning again. */
  async function* watch(id: string, exists: Exists): AsyncGenerator<LogRecord, void> {
    const scope = core.scope
    if (exists === undefined) await whenHere(id, exists)
    await gate.whileWaiting(async () => {
      await exists
      const read = () => children.result(core.task, id)
      await stopIfUnreadable(id, scope, () => whileStoreFails(core, read))
    })
    const log = children.watch(core.task, id, waits.signalOf(scope))[Symbol.asyncIterator]()
    try {
      for (;;) {
        const read = () => waits.whileWatching(id, scope, () => log.next())
        const next = await stopIfUnreadable(id, scope, read)
        if (core.dead) return await neverSettles()
        // A run that is stopped gets the record when it goes on.
        await gate.during(scope, () => undefined)
        if (next.done) return
        yield next.value
      }
    } finally {
      await log.return?.()
    }
  }

  /** The id is derived from the call, so a call that is repeated after its record was lost adds no second reminder. */
  function reminderId(key: string): string {
    const { id, journal } = core.task
    return `reminder-${sha256(`${id}/${journal.generation}/${key}`).slice(0, 32)}`
  }

  return ({ childId: id, agent }: Delegated, exists: Exists): Child => {
    const call = (name: string, act: (key: string) => Promise<void>): Promise<void> =>
      agentCall(() => control(id, exists, name, act))
    return {
      id,
      agent,
      result: () => agentCall(() => waitForResult(id, exists)),
      get: () => agentCall(() => whenHere(id, exists).then(() => children.get(core.task, id))),
      watch: () => watch(id, exists),
      pause: (options = {}) => call('pause', () => children.pause(core.task, id, options)),
      resume: (options: { input?: Json; continueTranscript?: boolean } = {}) =>
        call('resume', () => children.resume(core.task, id, options)),
      cancel: (reason) => call('cancel', () => children.cancel(core.task, id, reason)),
      remind: (reminder) =>
        call('remind', (key) =>
          children.remind(core.task, id, { ...reminder, id: reminder.id ?? reminderId(key) }),
        ),
    }
  }
}

type ChildWaits = ReturnType<typeof createChildWaits>

/** The waits of a run for its children. */
function createChildWaits(core: RunCore) {
  const awaited: string[] = []
  let watches = 0

  /** Fires when the run is discarded, or when the step of that scope must stop. */
  function signalOf({ inside }: OperationScope): AbortSignal {
    const { signal } = core
    return inside === undefined ? signal : AbortSignal.any([signal, inside.signal])
  }

  /** A step that must stop ends without a slot, because the child may keep the only slot for long. */
  async function goOn(inside: OperationScope['inside']): Promise<void> {
    inside?.signal.throwIfAborted()
    await core.slot.take()
  }

  /**
   * Waits for a child. Frees the slot if the run does nothing else, and takes a slot again before the code continues.
   * @param wait ends when the signal fires
   * @throws the reason of the signal of the surrounding step, when that step must stop
   */
  async function withoutSlot<T>(
    childId: string,
    scope: OperationScope,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { inside } = scope
    const waiting = (): Promise<T> => wait(signalOf(scope))
    awaited.push(childId)
    core.run.mayWait()
    try {
      return await (inside === undefined ? waiting() : inside.whileWaiting(waiting))
    } finally {
      awaited.splice(awaited.indexOf(childId), 1)
      if (!core.dead) await goOn(inside)
    }
  }

  /** The same for the next record of a child. Only its end loads a run again, so a run that watches stays in memory. */
  async function whileWatching<T>(
    childId: string,
    scope: OperationScope,
    wait: () => Promise<T>,
  ): Promise<T> {
    watches++
    try {
      return await core.gate.whileWaiting(() => withoutSlot(childId, scope, wait))
    } finally {
      watches--
    }
  }

  /** The children the run waits for, one for each call. */
  const waitedFor = (): readonly string[] => awaited
  return { withoutSlot, whileWatching, signalOf, awaited: waitedFor, watching: () => watches > 0 }
}
