/** The connected client, in one version of the protocol. */
import type {
  AgentContext,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import type { Message, Part } from '../../../core/messages/message.ts'
import { filledIn, formOf } from '../../../core/messages/question-form.ts'
import type { Decision, Question } from '../../../core/records.ts'
import type { Task } from '../../../core/task.ts'
import type { ClientFacts } from '../capabilities.ts'
import { text, titleOf } from '../render/updates.ts'
import type { Traces } from './traces.ts'

export interface Peer {
  readonly facts: ClientFacts
  /** The client called a method of the extension, so it knows the extension. */
  markAware(): void
  /** The client also gets its own messages. */
  readonly echoes?: true
  update(sessionId: string, update: SessionUpdate): Promise<void>
  /** Version 2: after a record of the task. `asking`: the client is being asked something. */
  moved?(sessionId: string, task: Task, asking: boolean): Promise<void>
  /** Version 2: tells the state of the session after an attachment. */
  standing?(sessionId: string): Promise<void>
  /** Version 2: repeats a prompt that is in no log. */
  echo?(sessionId: string, messageId: string, prompt: readonly ContentBlock[]): Promise<void>
  /** Version 2: for work without a task. The session is running during the work and idle after it. */
  readonly during?: (
    sessionId: string,
    work: () => Promise<PromptResponse>,
  ) => Promise<PromptResponse>
  notify(method: string, params: object): Promise<void>
  /** Sends `$/cancel_request` when the signal fires. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>
  /** Undefined: the client dismissed the question. */
  askConsent(
    sessionId: string,
    message: Message,
    consent: NonNullable<Question['consent']>,
    signal: AbortSignal,
  ): Promise<Decision | undefined>
  /** Undefined: the client dismissed the question. */
  askForm(sessionId: string, question: Question, signal: AbortSignal): Promise<Part | undefined>
}

export function createPeer(client: AgentContext, facts: ClientFacts, traces: Traces): Peer {
  const request: Peer['request'] = (method, params, signal) =>
    client.request(method, traces.add(params), {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    })

  let known = facts
  return {
    get facts() {
      return known
    },
    markAware() {
      known = { ...known, aware: true }
    },
    update: (sessionId, update) =>
      client.notify('session/update', traces.add({ sessionId, update })),
    notify: (method, params) => client.notify(method, traces.add(params)),
    request,
    async askConsent(sessionId, message, consent, signal) {
      const { outcome } = (await request(
        'session/request_permission',
        {
          sessionId,
          toolCall: {
            toolCallId: consent.consentId,
            title: titleOf(message),
            kind: 'other',
            status: 'pending',
            content: [text(titleOf(message))],
            rawInput: consent.operation,
          },
          options: permissionOptions,
        },
        signal,
      )) as { readonly outcome: { readonly outcome: string; readonly optionId?: string } }
      return outcome.outcome === 'selected' ? decisionOf(outcome.optionId) : undefined
    },
    async askForm(sessionId, question, signal) {
      const form = { sessionId, ...formOf(question) }
      return filledIn(question, await request('elicitation/create', form, signal))
    },
  }
}

/** A consent is valid for one operation, so there is no option to allow always. */
export const permissionOptions = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
] as const

export function decisionOf(optionId: string | undefined): Decision | undefined {
  if (optionId === 'allow') return 'granted'
  return optionId === 'reject' ? 'denied' : undefined
}
