/** Sub-tasks. The child's id is in the parent's log before the child exists, so a rebuilt parent finds the same one. */
import { describeError } from '../../core/describe-error.ts'
import { isLullError } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import type { ChildResult, JournalRecord, LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import type { Child } from '../agent-task.ts'
import { agentCall } from './agent-call.ts'
import type { RunCore } from './core.ts'
import { gatedRecord } from './gated-record.ts'
import type { Entry } from './journal.ts'
import { never } from './line.ts'
import { partsOf } from './parts.ts'
import { revive } from './step.ts'

export interface Children {
  delegate(agent: string, content: string | readonly Part[]): Promise<Child>
  /** Resolves when every child that was delegated to exists. */
  created(): Promise<void>
  /** The children the run waits for, one for each call. */
  readonly awaited: () => readonly string[]
  /** Whether a call waits for what a child does next, and not for its end. */
  readonly watching: () => boolean
}

type Delegated = JournalRecord & { readonly type: 'delegated' }

const RETRY_MS = 1_000

export function createChildren(core: RunCore): Children {
  const { host, gate } = core
  const { children } = host
  /** One for each call that waits. */
  const awaited: string[] = []
  let watches = 0
  const beingMade = new Set<Promise<void>>()

  /** Resolves with the record alone; the child comes into being while the code goes on, and calls on it wait for that. */
  async function delegate(agent: string, content: string | readonly Part[]): Promise<Child> {
    const parts = partsOf(content)
    children.check(agent)
    const key = core.key('delegate', agent)
    const scope = core.scope
    return core.perform<Child>({
      key,
      replay: (entry) => {
        const delegated = recordOf(entry, 'delegated')
        if (delegated === undefined) return undefined
        const exists = making(gate.during(scope, () => create(delegated)))
        return { value: childOf(delegated, exists) }
      },
      live: () => {
        const { contextId } = core.task
        const message = { messageId: host.ids.uuid(), role: 'ROLE_USER', parts, contextId } as const
        const childId = host.ids.uuid()
        const delegated = { type: 'delegated', key, childId, agent, message } as const
        return new Promise((resolve, reject) => {
          // In flight until the child exists, so that no stop falls in between.
          const exists = making(
            gate.during(scope, async () => {
              const { records } = await core.record(delegated)
              const settle = (): Child => childOf(delegated, exists)
              resolve({ seq: records.at(-1)?.seq ?? 0, settle })
              await create(delegated)
            }),
          )
          exists.catch(reject)
        })
      },
    })
  }

  /** Creating a child that exists changes nothing. */
  function create({ childId, agent, message }: Delegated): Promise<void> {
    return whileStoreFails(() => children.create(core.task, childId, agent, message))
  }

  /** The run does not end before its children exist. */
  function making(exists: Promise<void>): Promise<void> {
    beingMade.add(exists)
    exists.catch(() => undefined).finally(() => beingMade.delete(exists))
    return exists
  }

  async function whileStoreFails<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        if (!isLullError(error, 'STORE_UNAVAILABLE')) throw error
        await new Promise<void>((resolve) => {
          host.clock.after(RETRY_MS, resolve)
        })
        if (core.dead) return never()
      }
    }
  }

  function childOf({ childId: id, agent }: Delegated, exists: Promise<void>): Child {
    /** A call on the child is journaled, so that a rebuilt run does not repeat it. */
    async function call(name: string, act: (key: string) => Promise<void>): Promise<void> {
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
          await exists
          const { seq, record } = await gatedRecord(core, scope, async () => {
            const failure = await whileStoreFails(() => act(key)).then(
              () => undefined,
              describeError,
            )
            const facts = failure === undefined ? {} : { failure }
            return { type: 'child-called', key, call: name, result: null, ...facts } as const
          })
          return {
            seq,
            settle: () => {
              if (record.failure !== undefined) throw revive(record.failure)
            },
          }
        },
      })
    }

    async function result(): Promise<ChildResult> {
      const key = core.key('child-result', id)
      const scope = core.scope
      return core.perform<ChildResult>({
        key,
        harmless: true,
        replay: (entry) => {
          const ended = recordOf(entry, 'child-ended')
          return ended && { value: ended.result }
        },
        live: async () => {
          const result = await gate.whileWaiting(async () => {
            await exists
            return whileStoreFails(end)
          })
          const make = () => ({ type: 'child-ended', key, result }) as const
          const { seq } = await gatedRecord(core, scope, make)
          return { seq, settle: () => result }
        },
      })
    }

    /** While it waits the run needs no slot, and may leave memory: the child's end brings it back. */
    async function end(): Promise<ChildResult> {
      const already = await children.result(id)
      return already ?? withoutSlot(() => children.ended(id, core.body.signal))
    }

    /** The run gives its slot back once it does nothing but wait, and goes on when it has one again. */
    async function withoutSlot<T>(wait: () => Promise<T>): Promise<T> {
      awaited.push(id)
      core.body.waits()
      try {
        return await wait()
      } finally {
        awaited.splice(awaited.indexOf(id), 1)
        await host.reacquireSlot(core.task.id)
      }
    }

    /** Not journaled: a rebuilt run reads the child's log from the beginning again. */
    async function* watch(): AsyncGenerator<LogRecord, void> {
      const scope = core.scope
      await gate.whileWatching(() => exists)
      const records = children.watch(core.task, id, core.body.signal)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const next = await nextOf(records)
          if (core.dead) return await never()
          // A run that is stopped gets the record when it goes on.
          await gate.during(scope, () => undefined)
          if (next.done) return
          yield next.value
        }
      } finally {
        await records.return?.()
      }
    }

    /** Only the end of a child brings a run back that left memory, so a run that watches stays. */
    async function nextOf(records: AsyncIterator<LogRecord>): Promise<IteratorResult<LogRecord>> {
      watches++
      try {
        return await gate.whileWatching(() => withoutSlot(() => records.next()))
      } finally {
        watches--
      }
    }

    const parent = (): Task => core.task
    const act = (name: string, acts: (key: string) => Promise<void>) =>
      agentCall(() => call(name, acts))
    /** The same for the same call: one that died before it was recorded is no second reminder. */
    const reminderId = (key: string): string => {
      const { id: parentId, journal } = parent()
      return `reminder-${host.hash(`${parentId}/${journal.generation}/${key}`).slice(0, 32)}`
    }
    return {
      id,
      agent,
      result: () => agentCall(result),
      get: () => agentCall(() => exists.then(() => children.get(parent(), id))),
      watch,
      pause: (options = {}) => act('pause', () => children.pause(parent(), id, options)),
      resume: (options: { input?: Json; continueTranscript?: boolean } = {}) =>
        act('resume', () => children.resume(parent(), id, options)),
      cancel: (reason) => act('cancel', () => children.cancel(parent(), id, reason)),
      remind: (reminder) =>
        act('remind', (key) =>
          children.remind(parent(), id, { ...reminder, id: reminder.id ?? reminderId(key) }),
        ),
    }
  }

  return {
    delegate,
    created: async () => {
      await Promise.allSettled(beingMade)
    },
    awaited: () => awaited,
    watching: () => watches > 0,
  }
}

function recordOf<T extends JournalRecord['type']>(
  entry: Entry,
  type: T,
): (JournalRecord & { readonly type: T }) | undefined {
  if (entry.kind !== 'record' || entry.record.type !== type) return undefined
  return entry.record as unknown as JournalRecord & { readonly type: T }
}
