/** Sends one connected client what happens in one session. */
import { isTerminal } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Peer } from '../connection/peer.ts'
import { outbound } from '../names.ts'
import { turnEnded } from '../prompts/prompt-end.ts'
import { reminderChanges } from '../reminders/reminder-notices.ts'
import { atRest } from '../render/updates.ts'
import { awaitResumptionResponse } from '../schemas.ts'
import { configOptions } from '../suspend/config-options.ts'
import { lifecycleNotice, parkedParams } from '../suspend/lifecycle.ts'
import type { SessionSender, TaskChange } from './attachment.ts'

export interface SessionSenderDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly peer: Peer
  readonly sessionId: string
  /** Messages this connection sent itself. */
  readonly sent: { has(messageId: string): boolean }
  /** Fires when the connection has gone. */
  readonly gone: AbortSignal
}

export function createSessionSender(deps: SessionSenderDeps): SessionSender {
  const { acp, caller, peer, sessionId, sent, gone } = deps

  const tell: Peer['notify'] = async (method, params) => {
    if (peer.facts.aware) await peer.notify(method, params)
  }

  async function tellLifecycle({ record, task }: TaskChange): Promise<void> {
    const notice = lifecycleNotice(sessionId, record, task)
    if (notice !== undefined) await tell(notice.method, notice.params)
    for (const change of reminderChanges(record)) {
      const _meta = { lull: { taskId: task.id } }
      await tell(outbound.reminder, { sessionId, ...change, _meta })
    }
  }

  /** Information only: whatever comes back, or nothing, changes nothing but the names of the handle. */
  function tellParked(task: Task): void {
    const params = parkedParams(sessionId, task)
    if (params === undefined || !peer.facts.aware) return
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
    async shown({ update, echoes, rfc }, replayed) {
      if (rfc && !peer.facts.rfc) return
      if (!replayed && !peer.echoes && echoes !== undefined && sent.has(echoes)) return
      await peer.update(sessionId, update)
    },
    async found(task, asking) {
      if (task.parentId === undefined) await peer.moved?.(sessionId, task, asking)
    },
    async changed(change) {
      const { before, record, task, owned, asking } = change
      if (task.parentId !== undefined) return
      await peer.moved?.(sessionId, task, asking)
      await tellLifecycle(change)
      if (record.type === 'parked') tellParked(task)
      if (runStateOf(before) !== runStateOf(task)) {
        const options = await configOptions(acp, caller, sessionId)
        await peer.update(sessionId, {
          sessionUpdate: 'config_option_update',
          configOptions: [...options],
        })
      }
      if (!owned && before !== undefined && stretchEnded(before, task)) {
        await tell(outbound.turnEnded, { sessionId, ...turnEnded(acp.facts, task) })
      }
    },
  }
}

/** It came to rest, or it ended while it rested. */
function stretchEnded(before: Task, task: Task): boolean {
  return atRest(task) && (!atRest(before) || (isTerminal(task.state) && !isTerminal(before.state)))
}

const ALIASES = 64

function latest(aliases: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(aliases).slice(-ALIASES))
}

/** What the option `run_state` depends on. */
function runStateOf(task: Task | undefined): string {
  return `${task?.id} ${task?.epoch} ${task?.suspension?.handle}`
}
