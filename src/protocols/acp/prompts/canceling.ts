/** Canceling what prompts began. Tasks that came by other protocols are theirs. */
import { isLullError } from '../../../core/errors.ts'
import type { Caller } from '../../../engine/caller.ts'
import { isOwn } from '../connection/address.ts'
import type { AcpContext } from '../connection/context.ts'
import { keyOf } from '../sessions/sessions.ts'

export async function cancelTask(
  { engine }: AcpContext,
  caller: Caller,
  taskId: string,
): Promise<void> {
  try {
    await engine.cancel(caller, { taskId, reason: 'the user canceled it' })
  } catch (error) {
    // It ended first.
    if (!isLullError(error, 'TASK_TERMINAL')) throw error
  }
}

/** Every prompt that waits, every task one waits for, and every task one began. */
export async function cancelSession(
  acp: AcpContext,
  caller: Caller,
  sessionId: string,
): Promise<void> {
  const key = keyOf(caller, sessionId)
  const turns = acp.turns.of(key)
  for (const turn of turns) turn.canceled.abort()
  // What was prompted before has become something by then; what is prompted later waits until this is done.
  const pass = await acp.gates.enter(key)
  try {
    const open = await acp.sessions.openTasks(caller, sessionId)
    const began = open.filter((task) => task.origin === 'acp' && isOwn(task))
    const taskIds = new Set([
      ...began.map(({ id }) => id),
      ...turns.flatMap(({ taskId }) => taskId ?? []),
    ])
    await Promise.all([...taskIds].map((taskId) => cancelTask(acp, caller, taskId)))
  } finally {
    pass()
  }
}
