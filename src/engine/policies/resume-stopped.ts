/** Resumes tasks that a budget has stopped. */
import { isLullError } from '../../core/errors.ts'
import type { HoldScope } from '../../core/hold-scope.ts'
import type { Actor } from '../../core/suspension.ts'
import type { EngineContext } from '../context.ts'
import { openRowsIn } from '../holds/held-tasks.ts'

/** Resumes one task. False when the budget has not stopped it, or it already continues. */
export async function resumeStopped(
  { ledger, runs }: Pick<EngineContext, 'ledger' | 'runs'>,
  taskId: string,
  budgetId: string,
  actor: Actor = { kind: 'policy', id: budgetId },
): Promise<boolean> {
  const task = await ledger.read(taskId)
  const stop = task?.suspension ?? task?.pausing
  if (task === undefined || stop?.actor.kind !== 'policy' || stop.actor.id !== budgetId)
    return false
  try {
    await runs.commit(taskId, task, (_task, run) => ({
      type: 'resume',
      actor,
      cause: 'explicit_resume',
      handle: stop.handle,
      requireHandle: false,
      input: null,
      continueTranscript: true,
      ...(run === undefined ? {} : { run }),
    }))
    return true
  } catch (error) {
    // Another resume, a cancel or a hold came first.
    if (isLullError(error) && error.code !== 'STORE_UNAVAILABLE') return false
    throw error
  }
}

/** Resumes every task in the scope that the budget has stopped, and returns their number. */
export async function resumeAllStopped(
  context: EngineContext,
  { id, scope }: { readonly id: string; readonly scope: HoldScope },
  actor: Actor,
): Promise<number> {
  let resumed = 0
  for await (const rows of openRowsIn(context, scope)) {
    const page = rows
      .filter(({ state }) => state === 'paused-by-client' || state === 'working')
      .map((row) => resumeStopped(context, row.id, id, actor))
    resumed += (await Promise.all(page)).filter(Boolean).length
  }
  return resumed
}
