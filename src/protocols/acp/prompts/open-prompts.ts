import { isLullError } from '../../../core/errors.ts'
import type { Caller } from '../../../engine/caller.ts'
import { isOwn } from '../connection/address.ts'
import type { AcpContext } from '../connection/context.ts'
import { keyOf } from '../sessions/sessions.ts'

/** An unanswered prompt. `session/cancel` cancels all those of a session, on any connection. */
export interface OpenPrompt {
  /** Aborts when the user cancels the prompt, but not when a connection is lost. */
  readonly canceled: AbortController
  /** The task of the prompt, once it is known. */
  taskId: string | undefined
  /** Resolves when the prompt was answered. */
  readonly answered: Promise<void>
}

export interface OpenPrompts {
  /** @param owner the connection that sent the prompt */
  open(key: string, owner: object): { readonly prompt: OpenPrompt; close(): void }
  /** The open prompts of the session, or only those of one connection. */
  of(key: string, owner?: object): readonly OpenPrompt[]
}

export function createOpenPrompts(): OpenPrompts {
  const bySession = new Map<string, Map<OpenPrompt, object>>()
  return {
    open(key, owner) {
      let resolve: () => void = () => undefined
      const answered = new Promise<void>((done) => {
        resolve = done
      })
      const prompt: OpenPrompt = { canceled: new AbortController(), taskId: undefined, answered }
      const prompts = bySession.get(key) ?? new Map<OpenPrompt, object>()
      bySession.set(key, prompts.set(prompt, owner))
      const close = (): void => {
        prompts.delete(prompt)
        if (prompts.size === 0 && bySession.get(key) === prompts) bySession.delete(key)
        resolve()
      }
      return { prompt, close }
    },
    of: (key, owner) =>
      [...(bySession.get(key) ?? [])]
        .filter(([, whose]) => owner === undefined || whose === owner)
        .map(([prompt]) => prompt),
  }
}

/** Cancels the tasks of prompts. Tasks of other protocols continue. */
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
