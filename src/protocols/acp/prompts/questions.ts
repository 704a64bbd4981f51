/**
 * What tasks ask their user, put to one connected client: consent as a permission request, other questions as a form
 * where the client has them. The question itself is the task's, so it can be withdrawn here (held, suspended, answered
 * elsewhere, disconnected) and asked again by whoever attaches next.
 *
 *  Q1  a question that stands is open once per connection, and one that stands no more is withdrawn;
 *  Q2  exactly one answer counts, whichever way it came: the engine decides;
 *  Q3  a question nobody can be asked, or that was dismissed, leaves the turn to its user: the next prompt is the answer.
 */
import { isLullError } from '../../../core/errors.ts'
import type { Part } from '../../../core/message.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Peer } from '../connection/peer.ts'

export interface Questions {
  /** Brings what is open in line with how the task stands. */
  reconcile(task: Task): void
  /** Whether the client is being asked: the turn is not over. */
  asking(taskId: string): boolean
  /** What was dismissed may be asked again. */
  forgive(): void
  close(): void
}

interface Open {
  readonly key: string
  readonly withdraw: AbortController
  dismissed: boolean
}

export interface QuestionDeps {
  readonly acp: AcpContext
  readonly caller: Caller
  readonly peer: Peer
  readonly sessionId: string
  /** A question was dismissed: whoever waited for its answer need not wait on. */
  readonly dismissed: (taskId: string) => void
}

export function createQuestions(deps: QuestionDeps): Questions {
  const { acp, caller, peer, sessionId } = deps
  const open = new Map<string, Open>()

  async function ask(task: Task, mine: Open): Promise<void> {
    const answer = await answerTo(task, mine.withdraw.signal)
    if (mine.withdraw.signal.aborted) return
    if (answer !== undefined) return tell(task.id, answer)
    mine.dismissed = true
    deps.dismissed(task.id)
  }

  async function answerTo({ question }: Task, signal: AbortSignal): Promise<Part | undefined> {
    if (question === undefined) return undefined
    const { consent, message } = question
    if (consent === undefined) {
      const text = await peer.askText(sessionId, message, signal)
      return text === undefined ? undefined : { text }
    }
    const decision = await peer.askConsent(sessionId, message, consent, signal)
    return decision && { data: { consentId: consent.consentId, decision } }
  }

  async function tell(taskId: string, part: Part): Promise<void> {
    const messageId = acp.ids.uuid()
    try {
      await acp.engine.send(caller, {
        message: { messageId, role: 'ROLE_USER', parts: [part], taskId },
      })
    } catch (error) {
      // Somebody else was first.
      const late = isLullError(error, 'CONSENT_MISMATCH') || isLullError(error, 'TASK_TERMINAL')
      if (!late) throw error
    }
  }

  function start(task: Task, key: string): void {
    const mine: Open = { key, withdraw: new AbortController(), dismissed: false }
    open.set(task.id, mine)
    ask(task, mine).catch((error: unknown) => {
      if (mine.withdraw.signal.aborted) return
      acp.log('debug', 'a client was asked and gave no answer', { taskId: task.id, error })
      mine.dismissed = true
      deps.dismissed(task.id)
    })
  }

  return {
    reconcile(task) {
      const key = questionToAsk(task, peer)
      const known = open.get(task.id)
      if (known?.key === key) return
      known?.withdraw.abort()
      open.delete(task.id)
      if (key !== undefined) start(task, key)
    },
    forgive() {
      for (const [taskId, { dismissed }] of open) if (dismissed) open.delete(taskId)
    },
    asking: (taskId) => open.get(taskId)?.dismissed === false,
    close() {
      for (const { withdraw } of open.values()) withdraw.abort()
      open.clear()
    },
  }
}

/** What tells one question of a task from the next; undefined where there is none, or no way to ask it. */
function questionToAsk(task: Task, { facts }: Peer): string | undefined {
  const { question, state, holds, deferred } = task
  if (question === undefined || !isInterrupted(state)) return undefined
  if (holds.length > 0 || deferred !== undefined) return undefined
  if (question.consent !== undefined) return question.consent.consentId
  return state === 'input-required' && facts.forms ? question.message.messageId : undefined
}
