/**
 * Implements the replay of `session/load`: sends the past of a session again, oldest first, in the
 * same form as at the time.
 */
import { evolve } from '../../../core/evolve.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import { isOwn } from '../connection/address.ts'
import type { AcpContext } from '../connection/context.ts'
import { heard, type Shown, said, updatesOf } from '../render/updates.ts'
import type { SessionSender } from './session-sender.ts'
import type { Session } from './sessions.ts'

/** The most stateless messages of a session that are replayed. */
const MOST_MESSAGES = 1_000

/**
 * @param open the open tasks at the time of the attachment; their later records are sent live
 * @param isLive whether all records of a task are sent live
 * @returns the ended tasks whose records were all sent
 */
export async function replay(
  acp: AcpContext,
  caller: Caller,
  { id }: Session,
  open: readonly Task[],
  sender: Pick<SessionSender, 'show'>,
  isLive: (taskId: string) => boolean,
): Promise<readonly string[]> {
  const { tenant, principal } = caller
  const opened = new Set(open.map((task) => task.id))
  // A task that ended after the open tasks were listed is in both lists.
  const ended = (await acp.sessions.endedTasks(caller, id)).filter(
    (task) => isOwn(task) && !opened.has(task.id) && !isLive(task.id),
  )
  const messages = await acp.store.contextMessages(tenant, principal, id, MOST_MESSAGES)
  const pieces = [
    ...[...ended, ...open.filter(isOwn)].map((task) => ({
      at: task.createdAt,
      shown: () => ofTask(acp, caller, task),
    })),
    ...messages.map(({ at, message }) => ({
      at,
      shown: () => (message.role === 'ROLE_USER' ? heard(message) : said(message)),
    })),
  ].sort((a, b) => a.at - b.at)
  for (const piece of pieces) {
    for await (const shown of piece.shown()) await sender.show(shown, true)
  }
  return ended.map((task) => task.id)
}

async function* ofTask(
  { engine, facts }: AcpContext,
  caller: Caller,
  { id, version }: Task,
): AsyncGenerator<Shown, void> {
  let before: Task | undefined
  for await (const record of await engine.subscribe(caller, id)) {
    const task = evolve(before, record)
    yield* updatesOf(before, record, task, facts)
    before = task
    if (record.seq >= version) return
  }
}
