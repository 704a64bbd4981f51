/**
 * Whoever sent the tasks: sees to what they stop for, and outlives every worker. What a dead worker did not acknowledge is
 * asked again of the next one, with the same ids, as a client should. Remembers what it saw and what was acknowledged.
 */
import { randomUUID } from 'node:crypto'
import type { LogRecord } from '../../src/core/records.ts'
import { isTerminal, type State } from '../../src/core/states.ts'
import type { PauseMode } from '../../src/core/suspension.ts'
import type { ScriptOp } from '../../src/testing/script-agent/ops.ts'
import { Died, Refused, type Worker } from '../support/worker-process.ts'

export interface Action {
  readonly taskId: string
  readonly what: string
  /** Whether the record is what the action leads to: exactly one for an acknowledged one, at most one for any other. */
  readonly isDone: (record: LogRecord) => boolean
  readonly act: (worker: Worker) => Promise<unknown>
  acknowledged: boolean
}

export interface Client {
  /** Until every task has ended (true) or the worker has died (false). */
  attend(worker: Worker): Promise<boolean>
  /** By name. */
  readonly taskIds: ReadonlyMap<string, string>
  /** The records each task was seen to have. */
  readonly seen: ReadonlyMap<string, readonly LogRecord[]>
  readonly actions: readonly Action[]
}

export function createClient(scripts: ReadonlyMap<string, readonly ScriptOp[]>): Client {
  const messageIds = new Map([...scripts.keys()].map((name) => [name, randomUUID()]))
  const taskIds = new Map<string, string>()
  const seen = new Map<string, LogRecord[]>()
  const actions: Action[] = []
  const todo = new Set<Action>()
  let changed: () => void = () => undefined

  const lastOf = (taskId: string): LogRecord | undefined => seen.get(taskId)?.at(-1)
  const hasEnded = (taskId: string): boolean => isTerminal(lastOf(taskId)?.type as State)
  const allEnded = (): boolean =>
    taskIds.size === scripts.size && [...taskIds.values()].every(hasEnded)

  async function attend(worker: Worker): Promise<boolean> {
    const mishaps: unknown[] = []
    const attempt = (action: Action): void => {
      perform(worker, action).catch((error: unknown) => {
        if (!(error instanceof Died)) mishaps.push(error)
        changed()
      })
    }
    const stop = worker.listen((news) => {
      if (news.kind !== 'record') return
      const action = note(news.taskId, news.record)
      if (action !== undefined) attempt(action)
      changed()
    })
    try {
      await worker.ready
      for (const [name, ops] of scripts) await open(worker, name, ops)
      // What arose meanwhile is asked twice at once, as by an impatient client: it must not matter.
      for (const action of todo) attempt(action)
      await until(() => allEnded() || mishaps.length > 0 || worker.isDead(), worker)
    } catch (error) {
      if (!(error instanceof Died)) throw error
    } finally {
      stop()
    }
    if (mishaps.length > 0) throw mishaps[0]
    return allEnded()
  }

  /** Sends it, unless that was acknowledged, and reads up to where it is. */
  async function open(worker: Worker, name: string, ops: readonly ScriptOp[]): Promise<void> {
    if (!taskIds.has(name)) {
      const parts = [{ data: { script: ops } }]
      const messageId = messageIds.get(name) ?? ''
      const sent = await worker.call('send', { message: { messageId, role: 'ROLE_USER', parts } })
      if (sent.kind !== 'task') throw new Error('a script is a task')
      taskIds.set(name, sent.task.id)
      seen.set(sent.task.id, [])
    }
    const taskId = taskIds.get(name) ?? ''
    const { version } = await worker.call('get', taskId)
    await worker.call('watch', taskId, lastOf(taskId)?.seq ?? 0)
    await until(() => (lastOf(taskId)?.seq ?? 0) >= version || worker.isDead(), worker)
  }

  async function until(condition: () => boolean, worker: Worker): Promise<void> {
    while (!condition()) {
      const change = new Promise<void>((resolve) => {
        changed = resolve
      })
      await Promise.race([change, worker.died])
    }
  }

  function note(taskId: string, record: LogRecord): Action | undefined {
    seen.get(taskId)?.push(record)
    for (const action of todo) {
      if (action.taskId === taskId && action.isDone(record)) todo.delete(action)
    }
    const reaction = reactionTo(taskId, record)
    if (reaction === undefined) return undefined
    const action = { taskId, ...reaction, acknowledged: false }
    actions.push(action)
    todo.add(action)
    return action
  }

  async function perform(worker: Worker, action: Action): Promise<void> {
    try {
      action.acknowledged = (await action.act(worker)) !== false
    } catch (error) {
      // It was on to something else by the time the pause came.
      if (!(error instanceof Refused && error.code === 'TASK_NOT_PAUSABLE')) throw error
    }
    todo.delete(action)
  }

  return { attend, taskIds, seen, actions }
}

type Reaction = Pick<Action, 'what' | 'isDone' | 'act'>

function reactionTo(taskId: string, record: LogRecord): Reaction | undefined {
  if (record.type === 'asked') return answer(taskId, record)
  if (record.type === 'paused') return resume(taskId, record.handle)
  if (record.type === 'said') return pause(taskId, record)
  if (record.type !== 'parked') return undefined
  const { handle, conditions } = record.suspension
  if (conditions === undefined) return resume(taskId, handle)
  return conditions.onEvent === undefined ? undefined : emit(conditions.onEvent, handle)
}

function answer(taskId: string, { question }: LogRecord & { type: 'asked' }): Reaction {
  const messageId = randomUUID()
  const consentId = question.consent?.consentId
  const part =
    consentId === undefined ? { text: 'main' } : { data: { consentId, decision: 'granted' } }
  const message = { messageId, taskId, role: 'ROLE_USER', parts: [part] } as const
  return {
    what: 'answer',
    isDone: (record) => record.type === 'answered' && record.message.messageId === messageId,
    act: (worker) => worker.call('send', { message }),
  }
}

function resume(taskId: string, handle: string): Reaction {
  const metadata = { idempotencyKey: handle }
  return {
    what: 'resume',
    isDone: (record) => record.type === 'resumed' && record.handle === handle,
    act: (worker) => worker.call('resume', { taskId, handle, input: { by: 'ann' }, metadata }),
  }
}

/** What a task says is what it wants: "pause: finish_step". */
function pause(taskId: string, record: LogRecord & { type: 'said' }): Reaction | undefined {
  const part = record.message?.parts[0]
  const mode = part !== undefined && 'text' in part ? /^pause: (.+)$/.exec(part.text)?.[1] : null
  if (mode == null) return undefined
  const reason = `because of ${record.key}`
  return {
    what: 'pause',
    isDone: (one) => one.type === 'pause-requested' && one.suspension.reason === reason,
    // Where another pause was first, its reason comes back: this one had nothing to do.
    act: async (worker) =>
      (await worker.call('pause', { taskId, mode: mode as PauseMode, reason })).reason === reason,
  }
}

function emit(name: string, handle: string): Reaction {
  const [type = '', subject = ''] = name.split(':')
  const event = { id: handle, source: 'ci', type, subject }
  return {
    what: 'event',
    isDone: (record) => record.type === 'resumed' && record.handle === handle,
    act: (worker) => worker.call('emit', event),
  }
}
