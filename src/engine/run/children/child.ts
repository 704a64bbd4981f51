/** The `Child` object that the code of a parent gets from `task.delegate`, and the waits of a run for its children. */

import { isLullError } from '../../../core/errors.ts'
import { sha256 } from '../../../core/receipts/sha256.ts'
import type { ChildResult, JournalRecord, LogRecord } from '../../../core/records.ts'
import { describeError } from '../../../core/values/describe-error.ts'
import type { Json } from '../../../core/values/json.ts'
import type { Child } from '../../author/agent-task.ts'
import { untilAborted } from '../abort-reason.ts'
import { gatedRecord, Handed, type OperationScope } from '../operation.ts'
import { recordOf } from '../replay/journal.ts'
import type { RunCore } from '../run-core.ts'
import { neverSettles } from '../run-writer.ts'
import { revive } from '../steps/steps.ts'
import { agentCall } from '../turns/agent-call.ts'

export type Delegated = JournalRecord & { readonly type: 'delegated' }

export interface ChildFactoryDeps {
  readonly core: RunCore
  readonly waits: ChildWaits
}

/** Resolves when the child is created. Undefined for a child of the past, which this task does not create (`children.ts`). */
type Exists = Promise<void> | undefined

type ChildFactory = (delegated: Delegated, exists: Exists) => Child

export function createChildFactory(deps: ChildFactoryDeps): ChildFactory {
  const { core } = deps
  const { children } = core.host

  /** The id is derived from the call, so a call that is repeated after its record was lost adds no second reminder. */
  function reminderId(key: string): string {
    const { id, journal } = core.task
    return `reminder-${sha256(`${id}/${journal.generation}/${key}`).slice(0, 32)}`
  }

  return ({ childId: id, agent }, exists) => {
    const control = (name: string, act: (key: string) => Promise<void>): Promise<void> =>
      agentCall(() => journaledCall(deps, { id, exists, name, act }))
    return {
      id,
      agent,
      result: () => agentCall(() => resultOf(deps, id, exists)),
      get: () => agentCall(() => here(deps, id, exists).then(() => children.get(core.task, id))),
      watch: () => watch(deps, id, exists),
      pause: (options = {}) => control('pause', () => children.pause(core.task, id, options)),
      resume: (options: { input?: Json; continueTranscript?: boolean } = {}) =>
        control('resume', () => children.resume(core.task, id, options)),
      cancel: (reason) => control('cancel', () => children.cancel(core.task, id, reason)),
      remind: (reminder) =>
        control('remind', (key) =>
          children.remind(core.task, id, { ...reminder, id: reminder.id ?? reminderId(key) }),
        ),
    }
  }
}

interface ChildCall {
  readonly id: string
  readonly exists: Exists
  readonly name: string
  readonly act: (key: string) => Promise<void>
}

/** Resolves when the child is in this store. A run that waits for a child of the past can be paused meanwhile. */
async function here({ core, waits }: ChildFactoryDeps, id: string, exists: Exists): Promise<void> {
  if (exists !== undefined) return exists
  const scope = core.scope
  const arrived = (): Promise<void> =>
    whileStoreFails(core, () => core.host.children.arrived(core.task, id, waits.signalOf(scope)))
  await waits.whileWatching(id, scope, arrived).catch((error: unknown) => {
    if (!core.dead) throw error
  })
  if (core.dead) await neverSettles()
  await core.gate.during(scope, () => undefined)
}

/** A call on a child is journaled, so that a rebuilt run does not repeat it. */
async function journaledCall(deps: ChildFactoryDeps, call: ChildCall): Promise<void> {
  const { core } = deps
  const { id, exists, name, act } = call
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
      await here(deps, id, exists)
      const handed = await gatedRecord(core, scope, async () => {
        const failure = await whileStoreFails(core, () => act(key)).then(
          () => undefined,
          describeError,
        )
        const facts = failure === undefined ? {} : { failure }
        return { type: 'child-called', key, call: name, result: null, ...facts } as const
      })
      const settle = (): void => {
        const { failure } = handed.record
        if (failure !== undefined) throw revive(failure)
      }
      return Handed.record(handed, settle)
    },
  })
}

/** While it waits, the run needs no slot and may leave memory. The end of the child loads it again. */
async function resultOf(deps: ChildFactoryDeps, id: string, exists: Exists): Promise<ChildResult> {
  const { core, waits } = deps
  const { gate, host } = core
  const key = core.key('child-result', id)
  const scope = core.scope
  const end = async (): Promise<ChildResult> => {
    const already = await host.children.result(core.task, id)
    return (
      already ??
      waits.withoutSlot(id, scope, (signal) => host.children.ended(core.task, id, signal))
    )
  }
  return core.perform<ChildResult>({
    key,
    harmless: true,
    waits: true,
    replay: (entry) => {
      const ended = recordOf(entry, 'child-ended')
      return ended && { value: ended.result }
    },
    live: async () => {
      const result = await gate.whileWaiting(async () => {
        await exists
        return readable(deps, id, scope, () => whileStoreFails(core, end))
      })
      const make = () => ({ type: 'child-ended', key, result }) as const
      return Handed.record(await gatedRecord(core, scope, make), () => result)
    },
  })
}

/** Stops the task when the child cannot be read. After the stop, a rebuilt run makes the call again. */
async function readable<T>(
  { core }: ChildFactoryDeps,
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
async function* watch(
  deps: ChildFactoryDeps,
  id: string,
  exists: Exists,
): AsyncGenerator<LogRecord, void> {
  const { core, waits } = deps
  const { gate, host } = core
  const scope = core.scope
  if (exists === undefined) await here(deps, id, exists)
  await gate.whileWaiting(async () => {
    await exists
    const read = () => host.children.result(core.task, id)
    await readable(deps, id, scope, () => whileStoreFails(core, read))
  })
  const records = host.children.watch(core.task, id, waits.signalOf(scope))[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await readable(deps, id, scope, () =>
        waits.whileWatching(id, scope, () => records.next()),
      )
      if (core.dead) return await neverSettles()
      // A run that is stopped gets the record when it goes on.
      await gate.during(scope, () => undefined)
      if (next.done) return
      yield next.value
    }
  } finally {
    await records.return?.()
  }
}

/** The waits of a run for its children. While a run only waits, it needs no slot: `run-slot.ts`. */
export interface ChildWaits {
  /**
   * Waits for a child. Frees the slot if the run does nothing else, and takes a slot again before the code continues.
   * @param wait ends when the signal fires
   * @throws the reason of the signal of the surrounding step, when that step must stop
   */
  withoutSlot<T>(
    childId: string,
    scope: OperationScope,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  /**
   * The same for the next record of a child. Only the end of a child loads a run again, so a run that watches stays in
   * memory.
   */
  whileWatching<T>(childId: string, scope: OperationScope, wait: () => Promise<T>): Promise<T>
  /** Fires when the run is discarded, or when the step of that scope must stop. */
  signalOf(scope: OperationScope): AbortSignal
  /** The children the run waits for, one for each call. */
  readonly awaited: () => readonly string[]
  readonly watching: () => boolean
}

export function createChildWaits(core: RunCore): ChildWaits {
  const awaited: string[] = []
  let watches = 0

  function signalOf({ inside }: OperationScope): AbortSignal {
    const { signal } = core
    return inside === undefined ? signal : AbortSignal.any([signal, inside.signal])
  }

  /** A step that must stop ends without a slot, because the child may keep the only slot for long. */
  async function goOn(inside: OperationScope['inside']): Promise<void> {
    inside?.signal.throwIfAborted()
    await core.slot.take()
  }

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

  return {
    withoutSlot,
    whileWatching,
    signalOf,
    awaited: () => awaited,
    watching: () => watches > 0,
  }
}

const RETRY_MS = 1_000

/**
 * Repeats what the code of a run needs from the store until the store answers. Any other error is thrown. Never settles
 * after the run was discarded.
 */
export async function whileStoreFails<T>(core: RunCore, act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
      await new Promise<void>((resolve) => {
        core.host.clock.after(RETRY_MS, resolve)
      })
      if (core.dead) return neverSettles()
    }
  }
}
