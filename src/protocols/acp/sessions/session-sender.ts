/** Sends one connected client the changes of one session. */
import type { LogRecord } from '../../../core/records.ts'
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Peer } from '../connection/peer.ts'
import { outbound } from '../names.ts'
import { turnEnded } from '../prompts/prompt-outcome.ts'
import { isIdle, reminderChanges, type Shown } from '../render/updates.ts'
import { awaitResumptionResponse } from '../schemas/notifications.ts'
import { configOptions } from '../suspend/config-options.ts'
import { lifecycleNotice, parkedParams } from '../suspend/stop-notices.ts'

/** Each call resolves when the client's transport has taken the message. */
export interface SessionSender {
  show(shown: Shown, replayed: boolean): Promise<void>
  /** Called with each open task when the attachment begins. */
  taskFound(task: Task, asking: boolean): Promise<void>
  /** Called after the updates of a record were sent. */
  taskChanged(change: TaskChange): Promise<void>
}

export interface TaskChange {
  readonly before: Task | undefined
  readonly record: LogRecord
  readonly task: Task
  /** Whether a prompt of this connection waits for the task. */
  readonly owned: boolean
  /** Whether the client is being asked the question of the task. */
  readonly asking: boolean
}

export interface SessionSenderDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly peer: Peer
  readonly sessionId: string
  /** The ids of messages that this connection sent. */
  readonly sent: { has(messageId: string): boolean }
  /** Aborts when the connection is lost. */
  readonly gone: AbortSignal
}

export function createSessionSender(deps: SessionSenderDeps): SessionSender {
  const { acp, caller, peer, sessionId, sent, gone } = deps

  const notify: Peer['notify'] = async (method, params) => {
    if (peer.facts.knowsExtension) await peer.notify(method, params)
  }

  async function notifyOfStops({ record, task }: TaskChange): Promise<void> {
    const notice = lifecycleNotice(sessionId, record, task)
    if (notice !== undefined) await notify(notice.method, notice.params)
    for (const change of reminderChanges(record)) {
      const _meta = { lull: { taskId: task.id } }
      await notify(outbound.reminder, { sessionId, ...change, _meta })
    }
  }

  /**
   * Informs the client that the task has parked. Its answer can contain its own name for the
   * handle, and has no other effect.
   */
  function notifyOfPark(task: Task): void {
    const params = parkedParams(sessionId, task)
    if (params === undefined || !peer.facts.knowsExtension) return
    const names = [
      outbound.awaitResumption,
      ...(peer.facts.rfc ? [outbound.awaitResumptionRfc] : []),
    ]
    for (const name of names) {
      peer.request(name, params, gone).then(
        (answer) => keepAlias(answer, String(params['handle'])),
        () => undefined,
      )
    }
  }

  async function keepAlias(answer: unknown, handle: string): Promise<void> {
    const { data } = awaitResumptionResponse.safeParse(answer)
    const alias = data?.handle
    if (alias === undefined || alias === handle) return
    try {
      await acp.sessions.change(caller, sessionId, ({ aliases }) => ({
        aliases: latest({ ...aliases, [alias]: handle }),
      }))
    } catch (error) {
      acp.log('warn', "a client's name for a handle was not kept", { sessionId, error })
    }
  }

  return {
    async show(shown, replayed) {
      if ('rfcUpdate' in shown) {
        const update = shown.rfcUpdate
        if (peer.facts.rfc) await peer.notify('session/update', { sessionId, update })
        return
      }
      const { update, echoes } = shown
      if (!replayed && !peer.echoes && echoes !== undefined && sent.has(echoes)) return
      await peer.update(sessionId, update)
    },
    async taskFound(task, asking) {
      if (task.parentId === undefined) await peer.stateChanged?.(sessionId, task, asking)
    },
    async taskChanged(change) {
      const { before, record, task, owned, asking } = change
      if (task.parentId !== undefined) return
      await peer.stateChanged?.(sessionId, task, asking)
      await notifyOfStops(change)
      if (record.type === 'parked') notifyOfPark(task)
      if (runStateOf(before) !== runStateOf(task)) {
        const options = await configOptions(acp, caller, sessionId)
        await peer.update(sessionId, {
          sessionUpdate: 'config_option_update',
          configOptions: [...options],
        })
      }
      if (!owned && before !== undefined && workEnded(before, task)) {
        await notify(outbound.turnEnded, { sessionId, ...turnEnded(acp.facts, task) })
      }
    },
  }
}

/** Whether the task became idle, or ended while it was idle. */
function workEnded(before: Task, task: Task): boolean {
  return isIdle(task) && (!isIdle(before) || (isTerminal(task.state) && !isTerminal(before.state)))
}

/** The most aliases of handles that are kept per session. */
const ALIASES = 64

function latest(aliases: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(aliases).slice(-ALIASES))
}

/** The values on which the option `run_state` depends. */
function runStateOf(task: Task | undefined): string {
  return `${task?.id} ${task?.epoch} ${task?.suspension?.handle}`
}
