/** The connected client, as seen through one version of the protocol. */
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
  /** Called when the client has used a method of the extension, and so knows the extension. */
  markExtensionKnown(): void
  /** Set if the client also gets the messages that it sent itself. */
  readonly echoes?: true
  update(sessionId: string, update: SessionUpdate): Promise<void>
  /**
   * Version 2: called after a record of the task was sent. `asking`: the client is being asked a
   * question.
   */
  stateChanged?(sessionId: string, task: Task, asking: boolean): Promise<void>
  /** Version 2: sends the state of the session after an attachment. */
  sendState?(sessionId: string): Promise<void>
  /** Version 2: sends a prompt back that is in no log. */
  echo?(sessionId: string, messageId: string, prompt: readonly ContentBlock[]): Promise<void>
  /**
   * Version 2: wraps work without a task. The session is running during the work and idle after it.
   */
  readonly during?: (
    sessionId: string,
    work: () => Promise<PromptResponse>,
  ) => Promise<PromptResponse>
  notify(method: string, params: object): Promise<void>
  /** Sends a request to the client. Sends `$/cancel_request` when the signal aborts. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>
  /** Asks for consent. Undefined: the client dismissed the question. */
  askConsent(
    sessionId: string,
    message: Message,
    consent: NonNullable<Question['consent']>,
    signal: AbortSignal,
  ): Promise<Decision | undefined>
  /** Shows a question as a form. Undefined: the client dismissed the question. */
  askForm(sessionId: string, question: Question, signal: AbortSignal): Promise<Part | undefined>
}

/** What differs between the versions of the protocol. */
interface PeerVersion {
  readonly notify: (method: string, params: object) => Promise<void>
  readonly request: (method: string, params: object, options: RequestOptions) => Promise<unknown>
  /** An update in the shape of this version. */
  readonly updateOf: (update: SessionUpdate) => object
  /** The question of a permission request, without its session and options. */
  readonly permission: (toolCall: object, title: string) => object
  readonly more?: Pick<Peer, 'echoes' | 'stateChanged' | 'sendState' | 'echo' | 'during'>
}

interface RequestOptions {
  readonly cancellationSignal: AbortSignal
  readonly stopWaitingOnCancel: true
}

export function createPeer(version: PeerVersion, facts: ClientFacts, traces: Traces): Peer {
  const request: Peer['request'] = (method, params, cancellationSignal) =>
    version.request(method, traces.add(params), { cancellationSignal, stopWaitingOnCancel: true })
  const notify: Peer['notify'] = (method, params) => version.notify(method, traces.add(params))
  let known = facts

  return {
    get facts() {
      return known
    },
    markExtensionKnown() {
      known = { ...known, knowsExtension: true }
    },
    update: (sessionId, update) =>
      notify('session/update', { sessionId, update: version.updateOf(update) }),
    notify,
    request,
    async askConsent(sessionId, message, { consentId: toolCallId, operation: rawInput }, signal) {
      const title = titleOf(message)
      const toolCall = { toolCallId, title, kind: 'other', status: 'pending', rawInput }
      const question = version.permission(toolCall, title)
      const params = { sessionId, ...question, options: permissionOptions }
      const answer = await request('session/request_permission', params, signal)
      const { outcome } = answer as {
        readonly outcome: { readonly outcome: string; readonly optionId?: string }
      }
      return outcome.outcome === 'selected' ? decisionOf(outcome.optionId) : undefined
    },
    async askForm(sessionId, question, signal) {
      const form = { sessionId, ...formOf(question) }
      return filledIn(question, await request('elicitation/create', form, signal))
    },
    ...version.more,
  }
}

/** A client that speaks version 1. */
export function createPeerV1(client: AgentContext, facts: ClientFacts, traces: Traces): Peer {
  return createPeer(
    {
      notify: (method, params) => client.notify(method, params),
      request: (method, params, options) => client.request(method, params, options),
      updateOf: (update) => update,
      permission: (toolCall, title) => ({ toolCall: { ...toolCall, content: [text(title)] } }),
    },
    facts,
    traces,
  )
}

/** A consent is valid for one operation, so there is no option "always allow". */
const permissionOptions = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
] as const

function decisionOf(optionId: string | undefined): Decision | undefined {
  if (optionId === 'allow') return 'granted'
  return optionId === 'reject' ? 'denied' : undefined
}
