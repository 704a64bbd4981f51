/**
 * Decides where a prompt goes: to a task of the session that is stopped or asks a question,
 * otherwise to a new task. While a task runs, prompts are queued.
 */
import type { Part } from '../../../core/messages/message.ts'
import type { Task } from '../../../core/task.ts'
import { isOwn, toPrompt } from '../connection/address.ts'
import { abortable } from '../sessions/queues.ts'
import { keyOf } from '../sessions/sessions.ts'
import { continueTask } from './continue-task.ts'
import { startTask } from './create-task.ts'
import type { PromptDeps, PromptOutcome } from './prompt-outcome.ts'

/**
 * @param unlock called when the next request of the session may be routed
 * @returns undefined when the prompt was canceled first
 */
export async function routePrompt(
  deps: PromptDeps,
  parts: readonly Part[],
  canceled: AbortSignal,
  unlock: () => void,
): Promise<PromptOutcome | undefined> {
  const { connection, attachment, meta } = deps
  const { acp, caller } = connection
  const { id } = attachment.session
  const key = keyOf(caller, id)
  const open = await acp.sessions.openTasks(caller, id)
  const target = toPrompt(open, meta)
  if (target !== undefined) return continueTask(deps, target, parts)
  try {
    if (!acp.promptQueues.isBusy(key) && !open.some(isPrompted)) {
      return await startTask(deps, parts, canceled)
    }
    const place = acp.promptQueues.enter(key, canceled)
    unlock()
    const leave = await place
    try {
      const asking = await untilIdle(deps, canceled)
      return asking === undefined
        ? await startTask(deps, parts, canceled)
        : await continueTask(deps, asking, parts)
    } finally {
      leave()
    }
  } catch (error) {
    if (canceled.aborted && error === canceled.reason) return undefined
    throw error
  }
}

/** Whether a prompt created the task. */
function isPrompted(task: Task): boolean {
  return task.origin === 'acp' && isOwn(task)
}

/**
 * Waits until no task that a prompt created is open.
 * @returns a task that asks a question meanwhile: the queued prompt answers it
 */
async function untilIdle(
  { connection, attachment }: PromptDeps,
  canceled: AbortSignal,
): Promise<Task | undefined> {
  const { acp, caller } = connection
  const { id } = attachment.session
  let changed: () => void = () => undefined
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      changed = resolve
    })
  let change = next()
  const unwatch = acp.watching.on(id, () => changed())
  try {
    for (;;) {
      const open = await acp.sessions.openTasks(caller, id)
      const prompted = open.filter(isPrompted)
      if (prompted.length === 0) return undefined
      const asking = prompted.find((task) => task.state === 'input-required')
      if (asking !== undefined) return asking
      await abortable(change, canceled)
      change = next()
    }
  } finally {
    unwatch()
  }
}
