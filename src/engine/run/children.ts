/** Sub-tasks. The child's id is in the parent's log before the child exists, so a rebuilt parent finds the same one. */
import type { Json } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import type { ChildResult } from '../../core/records.ts'
import type { Child } from '../agent-task.ts'
import type { RunCore } from './core.ts'
import type { Outputs } from './outputs.ts'
import { partsOf } from './parts.ts'
import { failureOf } from './step.ts'

export interface Children {
  delegate(agent: string, content: string | readonly Part[]): Promise<Child>
}

export function createChildren(core: RunCore, outputs: Outputs): Children {
  const { host, gate } = core
  const { children } = host

  async function delegate(agent: string, content: string | readonly Part[]): Promise<Child> {
    const key = core.key('delegate', agent)
    const parts = partsOf(content)
    const { contextId } = core.task()
    const make = () => {
      const message = { messageId: host.ids.uuid(), role: 'ROLE_USER', parts, contextId } as const
      return { type: 'delegated', key, childId: host.ids.uuid(), agent, message } as const
    }
    const delegated = await outputs.tell(key, make, ({ childId, message }) => ({
      childId,
      message,
    }))
    // Creating what exists is nothing new, so a parent that died in between simply asks again.
    await children.create(core.task(), delegated.childId, agent, delegated.message)
    return createChild(delegated.childId, agent)
  }

  function createChild(id: string, agent: string): Child {
    /** A call on the child is journaled, so that a rebuilt run does not repeat it. */
    async function call(name: string, act: () => Promise<void>): Promise<void> {
      const key = core.key(`child-${name}`, id)
      const scope = core.scope()
      await core.perform<void>({
        key,
        replay: (entry) => {
          if (entry.kind !== 'record' || entry.record.type !== 'child-called') return undefined
          const { failure } = entry.record
          if (failure !== undefined)
            throw Object.assign(new Error(failure.message), { name: failure.name })
          return { value: undefined }
        },
        live: async () => {
          await gate.enter(scope)
          const error = await act().then(
            () => undefined,
            (thrown: unknown) => ({ thrown }),
          )
          const failure = error === undefined ? {} : { failure: failureOf(error.thrown) }
          const written = core.record({
            type: 'child-called',
            key,
            call: name,
            result: null,
            ...failure,
          })
          gate.leave()
          const { records } = await written
          return {
            seq: records.at(-1)?.seq ?? 0,
            settle: () => {
              if (error !== undefined) throw error.thrown
            },
          }
        },
      })
    }

    async function result(): Promise<ChildResult> {
      const key = core.key('child-result', id)
      const scope = core.scope()
      return core.perform<ChildResult>({
        key,
        replay: (entry) =>
          entry.kind === 'record' && entry.record.type === 'child-ended'
            ? { value: entry.record.result }
            : undefined,
        live: async () => {
          const over = gate.wait()
          const takeSlot = host.yieldSlot(core.task().id)
          const ended = await children.ended(id)
          await takeSlot()
          over()
          await gate.enter(scope)
          const written = core.record({ type: 'child-ended', key, result: ended })
          gate.leave()
          const { records } = await written
          return { seq: records.at(-1)?.seq ?? 0, settle: () => ended }
        },
      })
    }

    const parent = core.task
    return {
      id,
      agent,
      result,
      get: () => children.get(parent(), id),
      watch: () => children.watch(parent(), id),
      pause: (options = {}) => call('pause', () => children.pause(parent(), id, options)),
      resume: (options: { input?: Json; continueTranscript?: boolean } = {}) =>
        call('resume', () => children.resume(parent(), id, options)),
      cancel: (reason) => call('cancel', () => children.cancel(parent(), id, reason)),
      remind: (reminder) => call('remind', () => children.remind(parent(), id, reminder)),
    }
  }

  return { delegate }
}
