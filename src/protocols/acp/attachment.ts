/**
 * One connection's view of one session: follows every task of it and sends what happens, in the order of each task's log.
 *
 *  A1  what happened before the attachment is not sent (that is what `session/load` replays);
 *  A2  what happens from then on is sent once, whoever caused it and whether or not a prompt is open;
 *  A3  a slow reader slows only itself: nothing is buffered here, the store has it;
 *  A4  `rest` resolves after everything up to the rest was sent.
 */
import { evolve } from '../../core/evolve.ts'
import type { LogRecord } from '../../core/records.ts'
import type { Task } from '../../core/task.ts'
import { type Caller, maySee } from '../../engine/caller.ts'
import type { AcpContext } from './context.ts'
import { replay } from './replay.ts'
import type { Session } from './sessions.ts'
import { atRest, type Shown, updatesOf } from './updates.ts'

/** Where an attachment sends. Each resolves when it is written. */
export interface Outlet {
  shown(shown: Shown, replayed: boolean): Promise<void>
  /** After the updates of a record; `owned`: a prompt of this connection waits for the task. */
  happened(happening: Happening): Promise<void>
}

export interface Happening {
  readonly before: Task | undefined
  readonly record: LogRecord
  readonly task: Task
  readonly owned: boolean
}

export interface Attachment {
  readonly session: Session
  /** The task when it rests, or as it rests now. Undefined: the connection was lost first. */
  rest(taskId: string): Promise<Task | undefined>
  /** The same for a rest at or after a record that fits and that is yet to come. Call it before causing that record. */
  restAfter(taskId: string, from: (record: LogRecord) => boolean): Expected
  detach(): void
}

export interface Expected {
  readonly rest: Promise<Task | undefined>
  /** Nothing will come of it. */
  forget(): void
}

interface Follower {
  task: Task | undefined
  readonly waiting: Set<Waiter>
}

interface Waiter {
  from: ((record: LogRecord) => boolean) | undefined
  readonly resolve: (task: Task | undefined) => void
}

export async function attach(
  acp: AcpContext,
  caller: Caller,
  session: Session,
  outlet: Outlet,
  { replay: replays = false }: { readonly replay?: boolean } = {},
): Promise<Attachment> {
  const { engine, log, facts } = acp
  const leaving = new AbortController()
  const followers = new Map<string, Follower>()
  const ended = new Set<string>()
  /** Tasks written to while the list was made; those not on it are new. */
  let meanwhile: Set<string> | undefined = new Set()

  const unwatch = engine.watch((task) => {
    if (task.contextId !== session.id || !maySee(caller, task)) return
    if (followers.has(task.id) || ended.has(task.id)) return
    if (meanwhile === undefined) follow(task.id, undefined)
    else meanwhile.add(task.id)
  })

  function follow(taskId: string, from: Task | undefined): Follower {
    const follower: Follower = { task: from, waiting: new Set() }
    followers.set(taskId, follower)
    run(taskId, follower).catch((error: unknown) => {
      if (!leaving.signal.aborted) log('warn', 'a session lost sight of a task', { taskId, error })
    })
    return follower
  }

  async function run(taskId: string, follower: Follower): Promise<void> {
    const after = follower.task?.version ?? 0
    const { signal } = leaving
    const records = await engine.subscribe(caller, taskId, { after, signal })
    for await (const record of records) await pass(follower, record)
    if (signal.aborted) return
    followers.delete(taskId)
    ended.add(taskId)
  }

  async function pass(follower: Follower, record: LogRecord): Promise<void> {
    const before = follower.task
    const task = evolve(before, record)
    const owned = follower.waiting.size > 0
    for (const shown of updatesOf(before, record, task, facts)) await outlet.shown(shown, false)
    await outlet.happened({ before, record, task, owned })
    follower.task = task
    for (const waiter of follower.waiting) {
      if (waiter.from?.(record) ?? true) waiter.from = undefined
      if (waiter.from !== undefined || !atRest(task)) continue
      follower.waiting.delete(waiter)
      waiter.resolve(task)
    }
  }

  function wait({ waiting }: Follower, from: Waiter['from']): Expected {
    let resolve: Waiter['resolve'] = () => undefined
    const rest = new Promise<Task | undefined>((done) => {
      resolve = done
    })
    const waiter: Waiter = { from, resolve }
    if (leaving.signal.aborted) resolve(undefined)
    else waiting.add(waiter)
    return { rest, forget: () => waiting.delete(waiter) }
  }

  function detach(): void {
    leaving.abort()
    unwatch()
    for (const { waiting } of followers.values()) {
      for (const { resolve } of waiting) resolve(undefined)
    }
  }

  try {
    const listed = await acp.sessions.openTasks(caller, session.id)
    if (replays) await replay(acp, caller, session, listed, outlet)
    for (const task of listed) follow(task.id, task)
    for (const taskId of meanwhile) if (!followers.has(taskId)) follow(taskId, undefined)
    meanwhile = undefined
  } catch (error) {
    detach()
    throw error
  }

  return {
    session,
    async rest(taskId) {
      if (ended.has(taskId)) return engine.get(caller, taskId)
      const follower = followers.get(taskId) ?? follow(taskId, undefined)
      if (follower.task !== undefined && atRest(follower.task)) return follower.task
      return wait(follower, undefined).rest
    },
    restAfter: (taskId, from) => wait(followers.get(taskId) ?? follow(taskId, undefined), from),
    detach,
  }
}
