/** The client of one agent, made from the address of its interface or from its card. Every operation is a method. */

import type { State } from '../core/states.ts'
import type { JsonObject } from '../core/values/json.ts'
import type { ReceiptReport } from '../wire/ops/logs.ts'
import { type AgentCard, type Capabilities, chooseInterface, fetchCard } from './card.ts'
import { ClientError } from './client-error.ts'
import type { ConsentAnswer, Content, MessageTarget } from './tasks/message-content.ts'
import {
  createPauseAndResume,
  type ParkInput,
  type PausedOutcome,
  type PauseFallback,
  type PauseInput,
  type PauseOutcome,
  type PausingOutcome,
  type ResumeInput,
  type ResumeResult,
} from './tasks/pause-and-resume.ts'
import {
  type AttachedReminders,
  createAttachedReminders,
  createReminders,
  type ReminderFallback,
  type ReminderInput,
  type ReminderSelection,
  type RemindOutcome,
} from './tasks/remind.ts'
import { createSending, createTaskCalls } from './tasks/task-calls.ts'
import type { PendingReminder, SendResult, Task, TaskFrame, TaskPage } from './tasks/task-types.ts'
import { createStreams, createWatch, type Streams, type WatchOptions } from './tasks/watch.ts'
import type { Binding, Version } from './wire/a2a-names.ts'
import { type ConnectionOptions, createHttpClient } from './wire/http-client.ts'
import { openGrpcTransport } from './wire/open-grpc-transport.ts'
import { createWireReader, type WireReader } from './wire/task-format.ts'
import { createTransport, type Transport } from './wire/transport.ts'

export interface CallSignal {
  /** Aborts the call. The peer may still carry it out. */
  readonly signal?: AbortSignal | undefined
}

export interface SendOptions extends MessageTarget, CallSignal {
  /** Resolve as soon as the task exists, instead of when it ends, waits for input or is paused. */
  readonly returnImmediately?: boolean | undefined
  readonly historyLength?: number | undefined
  readonly acceptedOutputModes?: readonly string[] | undefined
  readonly metadata?: JsonObject | undefined
  /** Peers with idempotency keys answer the same key and message with the same task. A UUID as `messageId` does the same. */
  readonly idempotencyKey?: string | undefined
}

export interface ListFilter {
  readonly contextId?: string | undefined
  /** A2A has fewer states than Lull, so the client filters again: a page can have fewer tasks than `pageSize`, or none. */
  readonly state?: State | undefined
  /** 1 to 100. */
  readonly pageSize?: number | undefined
  readonly pageToken?: string | undefined
  readonly historyLength?: number | undefined
  readonly includeArtifacts?: boolean | undefined
}

export interface Client {
  /** The address of the interface. */
  readonly url: string
  readonly version: Version
  readonly binding: Binding

  /** The card is fetched at the first call, then cached. */
  card(options?: CallSignal): Promise<AgentCard>
  /** The capabilities on the card. */
  capabilities(options?: CallSignal): Promise<Capabilities>

  /** Resolves when the task ends, waits for input or is paused, or earlier with `returnImmediately`. */
  send(content: Content, options?: SendOptions): Promise<SendResult>
  /**
   * The frames of a new or continued task until it ends or waits for input. When the connection breaks after the first
   * frame, the client watches the task from there.
   */
  stream(content: Content, options?: SendOptions): AsyncGenerator<TaskFrame, void>
  get(
    taskId: string,
    options?: CallSignal & { readonly historyLength?: number | undefined },
  ): Promise<Task>
  list(filter?: ListFilter, options?: CallSignal): Promise<TaskPage>
  cancel(
    taskId: string,
    options?: CallSignal & { readonly metadata?: JsonObject | undefined },
  ): Promise<Task>

  /** Every frame of the task until it has ended, across broken connections and restarts of the server. */
  watch(taskId: string, options?: WatchOptions): AsyncGenerator<TaskFrame, void>
  /** Resolves when the task is in the wanted state. Rejects with `TASK_TERMINAL` when it ends in another one. */
  waitFor(
    taskId: string,
    wanted: State | ((task: Task) => boolean),
    options?: WatchOptions,
  ): Promise<Task>

  pause(
    taskId: string,
    options?: PauseInput & CallSignal & { readonly fallback?: PauseFallback | undefined },
  ): Promise<PauseOutcome>
  resume(taskId: string, options?: ResumeInput & CallSignal): Promise<ResumeResult>
  /** For workers: parks the task in the agent's name until a condition fires. */
  awaitResumption(
    taskId: string,
    park: ParkInput,
    options?: CallSignal,
  ): Promise<PausedOutcome | PausingOutcome>

  remind(
    taskId: string,
    reminder: string | ReminderInput,
    options?: CallSignal & {
      readonly fallback?: ReminderFallback | undefined
      readonly metadata?: JsonObject | undefined
    },
  ): Promise<RemindOutcome>
  /** The pending reminders. */
  reminders(taskId: string, options?: CallSignal): Promise<readonly PendingReminder[]>
  /** The signed receipts of the task, each with the result of the server's check. */
  receipts(taskId: string, options?: CallSignal): Promise<ReceiptReport>
  /** Clears pending reminders. @returns how many were cleared */
  clearReminders(
    taskId: string,
    which?: ReminderSelection,
    options?: CallSignal,
  ): Promise<{ readonly clearedCount: number }>

  /** Answers the question of the task: input and authorisation with content, consent with a decision. */
  answer(
    taskId: string,
    answer: Content | ConsentAnswer,
    options?: SendOptions,
  ): Promise<SendResult>
}

/** What the operations of one client share. */
export interface ClientParts {
  readonly transport: Transport
  readonly read: WireReader
  readonly version: Version
  readonly binding: Binding
  readonly streams: Streams
  readonly attached: AttachedReminders
  readonly waiting: Waiting
  readonly card: (options?: CallSignal) => Promise<AgentCard>
  /** The card, if it has been read. */
  readonly knownCard: () => AgentCard | undefined
}

/** Time and randomness. Tests replace them. */
interface Waiting {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
}

export interface ClientOptions extends ConnectionOptions {
  /** The address of the interface, such as `https://agents.example.com/agents/painter`. */
  readonly url: string
  /** Default 1.0. */
  readonly version?: Version | undefined
  /** Default JSONRPC. */
  readonly binding?: Binding | undefined
  /** The tenant on the card, if there is one. */
  readonly tenant?: string | undefined
}

export interface ConnectOptions extends ConnectionOptions {
  /** One of several agents behind the address: `/agents/{name}` on a Lull server. */
  readonly agent?: string | undefined
  /** Default: the newest version that both sides support. */
  readonly version?: Version | undefined
  /** Default: the first binding of the card. */
  readonly binding?: Binding | undefined
  /** Replaces the tenant of the card. */
  readonly tenant?: string | undefined
  /** Further origins that the interface may have. Credentials are sent there. */
  readonly origins?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** A client for a known interface. `connect` finds the interface by the card. */
export function createClient(options: ClientOptions): Client {
  return clientWith(options, { sleep, random: Math.random })
}

/**
 * Reads the card at an address and makes a client for the best interface that both sides support.
 * @param url the base URL of an agent, or the URL of its card
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Client> {
  const { agent, version, binding, origins = [], signal } = options
  const { fetch, headers, idleMs } = options
  const address = addressOf(url, agent)
  const card = await fetchCard(createHttpClient(fetch, headers), address, version ?? '1.0', signal)
  const chosen = chooseInterface(card, address, { version, binding, origins })
  const tenant = options.tenant ?? chosen.tenant
  const waiting = { sleep, random: Math.random }
  return clientWith({ ...chosen, tenant, fetch, headers, idleMs }, waiting, card)
}

/** @param card if it has been read already */
function clientWith(options: ClientOptions, waiting: Waiting, card?: AgentCard): Client {
  const { url, version = '1.0', binding = 'JSONRPC', tenant, idleMs = 60_000 } = options
  const http = createHttpClient(options.fetch, options.headers)
  let cachedCard = card

  const parts: ClientParts = {
    transport:
      binding === 'GRPC'
        ? openGrpcTransport({ url, tenant, headers: options.headers, idleMs })
        : createTransport({ url, version, binding, tenant, http, idleMs }),
    read: createWireReader(version),
    version,
    binding,
    streams: createStreams(),
    attached: createAttachedReminders(),
    waiting,
    knownCard: () => cachedCard,
    async card({ signal } = {}) {
      cachedCard ??= await fetchCard(http, url, version, signal)
      return cachedCard
    },
  }
  const calls = createTaskCalls(parts)
  const { follow, ...watching } = createWatch(parts, calls)
  return {
    url,
    version,
    binding,
    card: parts.card,
    capabilities: async (callOptions) => (await parts.card(callOptions)).capabilities,
    ...calls,
    ...watching,
    ...createSending(parts, calls, follow),
    ...createPauseAndResume(parts, calls, watching),
    ...createReminders(parts),
  }
}

function addressOf(url: string, agent: string | undefined): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ClientError('unreachable', `"${url}" is not an http address`, { reason: 'NOT_A2A' })
  }
  if (agent === undefined) return url
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}/agents/${encodeURIComponent(agent)}`
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
