/**
 * What a run does about operations that are open when its code ends, because nobody awaited them.
 *
 * O1  Their effects are recorded: the run waits for them, and for what code calls when it gets their results. It waits for
 *     `abandonAfterMs` at most, and then abandons the functions that are in flight.
 * O2  The log, the timeline and a log line name them. An operation without an effect outside of the task is not named.
 * O3  A stop, or a wait for a child, is named and not waited for: it could take days. A stop that has not begun does not begin.
 */

import type { Operation } from '../operation.ts'
import type { Operations } from '../operations.ts'
import { describeKeys } from '../replay/keys.ts'
import type { RunCore } from '../run-core.ts'

/** More of them are only counted. */
const MOST_NAMED = 64

/** @returns names the operations that nobody awaited. Undefined if there were none */
export async function endOpenOperations(operations: Operations): Promise<string | undefined> {
  const { core } = operations
  let named: string | undefined
  if (core.open.size > 0) {
    named = await core.gate.withoutStops(async () => {
      const names = await nameOpen(core)
      await waitForOpen(operations)
      return names
    })
  }
  await operations.abandonAll()
  return named
}

async function nameOpen(core: RunCore): Promise<string | undefined> {
  const keys = [...core.open.keys()].filter(isNamed).map(({ key }) => key)
  if (keys.length === 0) return undefined
  const first = keys.slice(0, MOST_NAMED)
  const names = describeKeys(first, keys.length)
  const { host, taskId } = core
  const text = 'the code of a task ended while operations were open that nobody awaited'
  host.log('warn', text, { agent: core.task.agent, taskId, operations: names })
  for (const [operation, result] of core.open) {
    if (isNamed(operation)) result.catch((error: unknown) => tellFailure(core, operation, error))
  }
  const key = core.key('not-awaited')
  // A run before this one has written it.
  if (core.journal.get(key) !== undefined) return names
  await core.gate.duringLast(() =>
    core.record({ type: 'not-awaited', key, operations: first, count: keys.length }),
  )
  return names
}

/** An operation inside a step belongs to that step. */
function isNamed({ key, harmless, waits }: Operation<unknown>): boolean {
  return !key.includes('/') && (harmless === undefined || waits === true)
}

function tellFailure({ host, taskId }: RunCore, { key }: Operation<unknown>, error: unknown): void {
  host.log('warn', 'an operation that nobody awaited failed', { taskId, operation: key, error })
}

async function waitForOpen(operations: Operations): Promise<void> {
  const { core } = operations
  let limit = createLimit(operations)
  for (;;) {
    const open = [...core.open].flatMap(([{ waits }, result]) => (waits ? [] : [result]))
    if (open.length === 0) break
    if (await Promise.race([Promise.allSettled(open).then(() => false), limit.reached])) {
      const { state } = core.task
      // The time that the task is stopped does not count.
      await core.gate.duringLast(() => undefined)
      if (core.dead || state === 'working') break
      limit = createLimit(operations)
    }
  }
  limit.cancel()
}

function createLimit(operations: Operations): {
  readonly reached: Promise<boolean>
  cancel(): void
} {
  const { core } = operations
  let cancel = (): void => undefined
  const reached = new Promise<boolean>((resolve) => {
    cancel = core.host.clock.after(operations.abandonAfterMs(), () => resolve(true))
  })
  return { reached, cancel: () => cancel() }
}
