/**
 * One editor that is connected. It can go at any moment, and then it only detaches: tasks go on, stopped ones stay
 * stopped, and what it was asked is asked again when it or another one attaches.
 */
import * as sdk from '@agentclientprotocol/sdk'
import { RequestError } from '@agentclientprotocol/sdk'
import type { Caller } from '../../engine/caller.ts'
import { type Attachment, attach, type Outlet } from './attachment.ts'
import { initializeResponse } from './capabilities.ts'
import type { AcpContext } from './context.ts'
import { toRequestError } from './faults.ts'
import { cancelTask, prompt } from './prompts.ts'
import type { Session } from './sessions.ts'
import { said } from './updates.ts'

const CANCELLED = -32800

type Handled<P> = {
  readonly params: P
  readonly signal: AbortSignal
  readonly client: sdk.AgentContext
}

export interface Connection {
  readonly app: sdk.AgentApp
  /** The client is gone. */
  detach(): void
}

export function createConnection(acp: AcpContext, caller: Caller): Connection {
  const attachments = new Map<string, Promise<Attachment>>()
  const sent = new Set<string>()
  let client: sdk.AgentContext | undefined
  let gone = false

  function outlet(sessionId: string): Outlet {
    return {
      async shown({ update, echoes }, replayed) {
        if (!replayed && echoes !== undefined && sent.has(echoes)) return
        await client?.notify('session/update', { sessionId, update })
      },
      async happened() {},
    }
  }

  function attachTo(session: Session, options?: { readonly replay: boolean }): Promise<Attachment> {
    const made = attach(acp, caller, session, outlet(session.id), options)
    attachments.set(session.id, made)
    made.catch(() => {
      if (attachments.get(session.id) === made) attachments.delete(session.id)
    })
    if (gone) made.then((attachment) => attachment.detach()).catch(() => undefined)
    return made
  }

  async function attached(sessionId: string): Promise<Attachment> {
    const session = await acp.sessions.get(caller, sessionId)
    return attachments.get(session.id) ?? attachTo(session)
  }

  /** Attached anew: what this connection had of it ends here. */
  async function reattach(session: Session, replay: boolean): Promise<Attachment> {
    const old = await attachments.get(session.id)
    old?.detach()
    return attachTo(session, { replay })
  }

  function handle<P, R>(
    run: (handled: Handled<P>) => Promise<R>,
  ): (handled: Handled<P>) => Promise<R> {
    return async (handled) => {
      client ??= handled.client
      try {
        return await run(handled)
      } catch (error) {
        const report = (cause: unknown): void =>
          acp.log('error', 'an ACP request failed', { error: cause })
        throw toRequestError(error, report)
      }
    }
  }

  const app = sdk
    .agent({ name: 'lull' })
    .onRequest(
      'initialize',
      handle(async () => initializeResponse(acp.agentInfo)),
    )
    .onRequest(
      'session/new',
      handle(async ({ params: { cwd } }) => {
        const session = await acp.sessions.create(caller, { cwd })
        await attachTo(session)
        return { sessionId: session.id }
      }),
    )
    .onRequest(
      'session/load',
      handle(async ({ params }) => {
        const session = await acp.sessions.get(caller, params.sessionId)
        await reattach(session, true)
        return {}
      }),
    )
    .onRequest(
      'session/prompt',
      handle(async ({ params, signal }) => {
        const attachment = await attached(params.sessionId)
        const turn = acp.turns.begin(params.sessionId)
        const cancel = (): void => {
          // A lost connection is no wish to stop.
          if ((signal.reason as { code?: unknown })?.code === CANCELLED) cancelTurn(turn)
        }
        const cancelTurn = (given: typeof turn): void => {
          given.canceled.abort()
          if (given.taskId !== undefined) void cancelTask(acp, caller, given.taskId).catch(report)
        }
        signal.addEventListener('abort', cancel)
        const deps = {
          acp,
          caller,
          attachment,
          sending: (messageId: string) => sent.add(messageId),
          say: async (message: Parameters<typeof said>[0]) => {
            for (const shown of said(message)) await outlet(params.sessionId).shown(shown, false)
          },
        }
        try {
          return await prompt(deps, params, turn)
        } finally {
          acp.turns.end(params.sessionId, turn)
          signal.removeEventListener('abort', cancel)
        }
      }),
    )
    .onNotification('session/cancel', async ({ params: { sessionId } }) => {
      try {
        await acp.sessions.get(caller, sessionId)
        await cancelSession(sessionId)
      } catch (error) {
        // Notifications have no answer; a session that does not exist has nothing to cancel.
        if (!(error instanceof RequestError)) report(error)
      }
    })

  function report(error: unknown): void {
    acp.log('error', 'an ACP notification failed', { error })
  }

  /** What prompts of the session wait for, and every task of it that a prompt began. */
  async function cancelSession(sessionId: string): Promise<void> {
    const turns = acp.turns.of(sessionId)
    for (const turn of turns) turn.canceled.abort()
    const open = await acp.sessions.openTasks(caller, sessionId)
    const began = open.filter((task) => task.origin === 'acp' && task.parentId === undefined)
    const taskIds = new Set([...began.map(({ id }) => id), ...turns.flatMap((t) => t.taskId ?? [])])
    await Promise.all([...taskIds].map((taskId) => cancelTask(acp, caller, taskId)))
  }

  return {
    app,
    detach() {
      gone = true
      for (const made of attachments.values()) {
        made.then((attachment) => attachment.detach()).catch(() => undefined)
      }
    },
  }
}
