/**
 * Shows the questions of tasks to one connected client: a consent as a permission request, other
 * questions as a form if the client supports forms. The question belongs to the task. A connection
 * can withdraw it (the task is held, suspended or answered elsewhere, or the client disconnects),
 * and the next attachment asks it again.
 *
 *  Q1  A connection asks an open question once, and withdraws a question that is no longer open.
 *  Q2  The engine accepts exactly one answer, whichever client or protocol it comes from.
 *  Q3  A question that cannot be asked, or that was dismissed, ends the prompt. The next prompt is the answer.
 */
import { isLullError } from '../../../core/errors.ts'
import type { Part } from '../../../core/messages/message.ts'
import { isInterrupted } from '../../../core/states.ts'
import type { Task } from '../../../core/task.ts'
import type { Caller } from '../../../engine/caller.ts'
import type { AcpContext } from '../connection/context.ts'
import type { Peer } from '../connection/peer.ts'

export interface Questions {
  /** Asks or withdraws questions, so that the client sees what the task asks now. */
  reconcile(task: Task): void
  /** Whether the client is being asked and has not dismissed the question. */
  asking(taskId: string): boolean
  /** Dismissed questions are asked again at the next `reconcile`. */
  forgetDismissed(): void
  close(): void
}

const late = ['NOT_ASKING', 'CONSENT_MISMATCH', 'TASK_TERMINAL'] as const

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
  /** Called when the client dismissed the question of the task. */
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
    if (consent === undefined) return peer.askForm(sessionId, question, signal)
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
      // Another answer came first.
      if (!late.some((code) => isLullError(error, code))) throw error
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
    forgetDismissed() {
      for (const [taskId, { dismissed }] of open) if (dismissed) open.delete(taskId)
    },
    asking: (taskId) => open.get(taskId)?.dismissed === false,
    close() {
      for (const { withdraw } of open.values()) withdraw.abort()
      open.clear()
    },
  }
}

/** Identifies the open question. Undefined if there is none, or this client cannot be asked. */
function questionToAsk(task: Task, { facts }: Peer): string | undefined {
  const { question, state, holds, deferred } = task
  if (question === undefined || !isInterrupted(state)) return undefined
  if (holds.length > 0 || deferred !== undefined) return undefined
  if (question.consent !== undefined) return question.consent.consentId
  return state === 'input-required' && facts.forms ? question.message.messageId : undefined
}
