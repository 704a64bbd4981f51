/** Cancels the tasks of prompts. Tasks of other protocols continue. */
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
    // A task that ended first needs no cancel.
    if (!isLullError(error, 'TASK_TERMINAL')) throw error
  }
}

/** Cancels every queued prompt, every task that an open prompt waits for, and every task that a prompt began. */
export async function cancelSession(
  acp: AcpContext,
  caller: Caller,
  sessionId: string,
): Promise<void> {
  const key = keyOf(caller, sessionId)
  const prompts = acp.openPrompts.of(key)
  for (const { canceled } of prompts) canceled.abort()
  // When the lock is free, earlier prompts have been routed, and later ones wait until it is
  // released again.
  const unlock = await acp.sessionLocks.enter(key)
  try {
    const open = await acp.sessions.openTasks(caller, sessionId)
    const began = open.filter((task) => task.origin === 'acp' && isOwn(task))
    const taskIds = new Set([
      ...began.map(({ id }) => id),
      ...prompts.flatMap(({ taskId }) => taskId ?? []),
    ])
    await Promise.all([...taskIds].map((taskId) => cancelTask(acp, caller, taskId)))
  } finally {
    unlock()
  }
}
