/**
 * Sub-tasks. The child's id is in the parent's log before the child exists, so a rebuilt parent finds the same child.
 *
 * D1  A child that was delegated before the log was imported or forked is never created here: its steps may have run elsewhere.
 *     It is waited for until it is imported too.
 */

import type { Part, PartInput } from '../../../core/messages/message.ts'
import { canonical } from '../../../core/receipts/canonical-json.ts'
import type { JournalRecord } from '../../../core/records.ts'
import type { Child } from '../../author/agent-task.ts'
import { Handed, type OperationScope } from '../operation.ts'
import { partsOf } from '../outputs/parts.ts'
import { type Entry, recordOf } from '../replay/journal.ts'
import type { RunCore } from '../run-core.ts'
import { createChildFactory, createChildWaits, type Delegated, whileStoreFails } from './child.ts'

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
  const childOf = createChildFactory({ core, waits })
  const beingCreated = new Set<Promise<void>>()
  /** The children the task had before this run delegated to a first new one, and those it delegated to since. */
  let childrenBefore: number | undefined
  let delegatedNow = 0

  /** The schema refused the message. */
  function notDelegated(error: unknown): never {
    delegatedNow--
    throw error
  }

  /**
   * Resolves when the record is written. The child is created while the code goes on. Calls on the child wait until it
   * exists.
   */
  async function delegate(agent: string, content: string | readonly PartInput[]): Promise<Child> {
    const parts = partsOf(content)
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
        const exists = isPast ? undefined : tracked(gate.during(scope, () => create(delegated)))
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
  function recordAndCreate(
    scope: OperationScope,
    delegated: JournalRecord & Delegated,
  ): Promise<Handed<Child>> {
    return new Promise((resolve, reject) => {
      const exists = tracked(
        gate.during(scope, async () => {
          const written = core.record(delegated)
          const settle = (): Child => childOf(delegated, exists)
          resolve(Handed.record({ record: delegated, written }, settle))
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
  function tracked(exists: Promise<void>): Promise<void> {
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
