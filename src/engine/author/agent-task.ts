/**
 * The `task` that an agent's `run` gets. Every operation is journaled, and a rebuilt run executes none of them again.
 */

import type { Artifact, Message, PartInput } from '../../core/messages/message.ts'
import type { Choice } from '../../core/messages/question-part.ts'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { ChildResult, ConsentBy, LogRecord, UsageReport } from '../../core/records.ts'
import type { Reminder } from '../../core/reminders/reminders.ts'
import type { PauseMode, Wake } from '../../core/suspension.ts'
import type { Task } from '../../core/task.ts'
import type { Duration } from '../../core/values/duration.ts'
import type { Json, JsonInput, JsonInputObject, JsonObject } from '../../core/values/json.ts'
import type { ResumeConditions, Timeout } from '../../core/waiting/conditions.ts'
import type { LogLevel } from '../../ports/log.ts'
import type { ReminderRequest } from '../input/requests.ts'
import type { Conversation, ConversationArtifact } from './conversation.ts'
import type { OutputOf, StandardSchemaV1 } from './standard-schema.ts'
import type { JsonSerializable } from './step-result.ts'

export interface StepContext {
  /**
   * Aborts on an interrupting pause, on cancel and on `timeoutMs`. A step may ignore it and
   * complete.
   */
  readonly signal: AbortSignal
  /**
   * 32 hexadecimal digits, the same for every attempt of this step, also after a crash. Pass it to the service you call.
   */
  readonly idempotencyKey: string
  /**
   * 1 for the first attempt, and one more for each recorded attempt. An attempt that ended with a crash is not recorded.
   */
  readonly attempt: number
  /**
   * Whether an earlier execution of this step may have begun: true after a retry or an abort, after
   * a crash or a lost lease during which it may have run, and inside a step for which it is true.
   */
  readonly mayHaveRun: boolean
  /**
   * Live output of this attempt as an artifact of that name. Readers see it while it is written. The whole text is
   * recorded with the step's result. A new attempt starts with an empty text. The same name returns the same stream.
   */
  stream(name: string): StepStream
}

export interface StepStream {
  readonly artifactId: string
  /** Appends to the text. @throws LullError `STEP_RESULT` when the text is too long or the attempt is over */
  write(text: string): void
}

/** How a failed step is retried. `throw new Fatal('why')` inside the step ends the retries. */
export interface Retry {
  /** The number of further attempts after a failure. */
  readonly attempts: number
  /** The wait before the first retry. Default 200. */
  readonly backoffMs?: Duration
  /** Each further wait is this many times longer. Default 2. */
  readonly factor?: number
  /** The longest wait. Default 60,000. */
  readonly maxBackoffMs?: Duration
}

export interface StepOptions {
  readonly retry?: Retry
  readonly timeoutMs?: Duration
  /**
   * How long to wait for the function after its time limit, or a pause, told it to stop. Until then
   * no pause or stop of the task commits, and no further attempt begins. Afterwards the task
   * continues without it, and lists the step as one that may still act. Default 60 s.
   */
  readonly abandonAfterMs?: Duration
  /** The key of the journal entry. Default: the step's name and how often it was used before. */
  readonly key?: string
  /**
   * Set it for a step that changed code calls before operations that running tasks have already
   * recorded. A rebuilt task then executes it once. Without it the task is stopped, because Lull
   * cannot tell a new step from a renamed one.
   */
  readonly added?: boolean
  /**
   * The input of the step. Its digest is recorded. If the code of a rebuilt task gives a recorded
   * step another input, the task is stopped, instead of getting a result that was computed from
   * other input.
   */
  readonly with?: JsonInput
}

export type StepFunction<T> = (step: StepContext) => Promise<T> | T

export interface Park extends Omit<ResumeConditions, 'timeout'> {
  readonly reason: string
  readonly summary?: string
  /**
   * When the park ends at the latest. The duration is `afterMs`, or `durationMinutes` as in the
   * protocols.
   */
  readonly timeout?: Timeout | ParkTimeout
  /**
   * A child of this task, or several of them. The end of the first one wakes the task, also when it
   * has ended already; `wake.child` says which one and how.
   */
  readonly child?: Pick<Child, 'id'> | readonly Pick<Child, 'id'>[]
  /**
   * The input that a resume must have, as any Standard Schema. Other input is refused, and the task
   * stays stopped. Only what can be expressed as JSON Schema is checked. People see a form that is
   * built from it.
   */
  readonly input?: StandardSchemaV1
}

export interface ParkTimeout extends Omit<Timeout, 'durationMinutes' | 'input'> {
  readonly afterMs: Duration
  readonly input?: JsonInput
}

/**
 * The duration of a sleep, or the instant at which it ends: ISO 8601, epoch milliseconds or a
 * `Date`.
 */
// biome-ignore lint/style/noRestrictedGlobals: only its type
export type Sleep = Duration | { readonly until: string | number | Date }

export interface Answer {
  readonly text: string
  readonly message: Message
  /** The first data part of the answer, if any. */
  readonly data?: Json
}

/** A consent that was granted. */
export interface Consent extends Answer {
  /** What was granted: the operation that was asked for, or with `editable` the one in its place. */
  readonly operation: Json
  /** What the person who granted it said. */
  readonly comment?: string
}

/** A validated answer. */
export interface CheckedAnswer<T> extends Answer {
  /** The value that the schema returned for the answer, or the value of the choice. */
  readonly value: T
}

/**
 * A question with a schema or with choices. An invalid answer is refused, and the task keeps
 * waiting.
 */
export interface AskRequest extends AskOptions {
  readonly text: string
  /** Further parts of the question, after the text. */
  readonly parts?: readonly PartInput[]
  /** Any Standard Schema. It validates the first data part of the answer, or else its text. */
  readonly schema?: StandardSchemaV1
  /** The answers that are offered. A string is both value and label. */
  readonly choices?: readonly (string | Choice)[]
}

/** The value of one of the choices. */
export type ChoiceOf<C extends readonly (string | Choice)[]> = C[number] extends infer One
  ? One extends { readonly value: infer V }
    ? V
    : One
  : never

export interface AskOptions {
  /** Epoch milliseconds. The task fails if it has no answer by then. */
  readonly expiresAt?: number
  /** Like `expiresAt`, counted from the moment at which the question is asked. */
  readonly expiresInMs?: Duration
}

export interface ConsentRequest {
  readonly prompt: string
  /** What the user consents to. The answer is valid for exactly this value. */
  readonly operation: JsonInput
  readonly scope?: JsonInput
  /** Who may grant it, of those who may answer. Everybody of them may deny. */
  readonly by?: ConsentBy
  /** A granted operation may differ from this one if it matches the schema. */
  readonly editable?: StandardSchemaV1
  readonly expiresAt?: number
  readonly expiresInMs?: Duration
}

/** A new artifact. Its content is one of text, data, base64 bytes or parts. */
export interface ArtifactInput {
  readonly name?: string
  readonly description?: string
  readonly text?: string
  readonly data?: JsonInput
  readonly base64?: string
  readonly parts?: readonly PartInput[]
  readonly mediaType?: string
  readonly artifactId?: string
  readonly metadata?: JsonInputObject
}

export interface ArtifactStream {
  readonly artifactId: string
  write(chunk: string | PartInput): Promise<void>
  close(): Promise<Artifact>
}

export interface Tool {
  readonly name: string
  /** The key of the journal entry. Default: the tool's name and how often it was used before. */
  readonly key?: string
  readonly run: StepFunction<unknown>
}

export type ToolResult =
  | { readonly name: string; readonly status: 'done'; readonly result: Json }
  | { readonly name: string; readonly status: 'failed'; readonly error: string }
  | { readonly name: string; readonly status: 'skipped' }

export interface Turn {
  /** The number of the turn: 1, 2, 3… */
  readonly number: number
  /** Reading it again during the turn includes reminders that arrived meanwhile. */
  readonly reminders: readonly Reminder[]
  /** The reminders as one block of text for a model. Empty when there are none. */
  readonly reminderBlock: string
  /** The messages to the task since the previous turn. */
  readonly messages: readonly Message[]
  readonly transcript: readonly TranscriptEntry[]
  readonly wake: Wake | undefined
  /** Adds an entry to the transcript. */
  record(role: 'agent' | 'tool', content: JsonInput): void
  tool<T>(
    name: string,
    run: StepFunction<T> & JsonSerializable<T>,
    options?: StepOptions,
  ): Promise<T>
  /**
   * Runs the tools one after the other. A failed tool does not stop the batch. An interrupting reminder skips the rest.
   */
  tools(tools: readonly Tool[]): Promise<readonly ToolResult[]>
}

/** A sub-task as its parent sees it. */
export interface Child {
  readonly id: string
  readonly agent: string
  /** Waits until the child has ended. The parent's slot is free meanwhile. */
  result(): Promise<ChildResult>
  get(): Promise<Task>
  watch(): AsyncIterable<LogRecord>
  pause(options?: { readonly reason?: string; readonly mode?: PauseMode }): Promise<void>
  resume(options?: {
    readonly input?: JsonInput
    readonly continueTranscript?: boolean
  }): Promise<void>
  cancel(reason?: string): Promise<void>
  remind(reminder: ReminderRequest): Promise<void>
}

export interface AgentTask<Input = unknown> {
  readonly id: string
  readonly contextId: string
  /** The text of the message that created the task. */
  readonly text: string
  readonly message: Message
  /**
   * The message as parsed by the agent's `input` schema. Undefined for an agent without a schema.
   */
  readonly input: Input
  /** The messages that the run has seen so far: the first message, the messages of its turns, and answers. */
  readonly messages: readonly Message[]
  readonly metadata: JsonObject
  readonly principal: string
  readonly tenant: string
  /**
   * Aborts when the task is cancelled and when the run is dropped from memory. It does not abort on
   * a pause.
   */
  readonly signal: AbortSignal
  readonly context: Conversation
  /** The tasks and artifacts that the message refers to. */
  readonly referenced: {
    readonly tasks: readonly Task[]
    readonly artifacts: readonly ConversationArtifact[]
  }
  /** The state that the previous run passed to `continueAs`. */
  readonly state: Json | undefined
  /** How the last stop ended, whether the agent or a caller had requested it. */
  readonly wake: Wake | undefined

  /**
   * The pending reminders, for agents that do not use `task.turn`. Each step that is not inside another step counts as
   * one turn. Inside `task.turn` it is the list of that turn.
   */
  readonly reminders: readonly Reminder[]
  /** The reminders as one block of text for a model. Empty when there are none. */
  readonly reminderBlock: string

  /** `T` is inferred from the function alone. `NoInfer` keeps TypeScript from inferring it from the place where the result is used. */
  step<T>(
    name: string,
    run: StepFunction<T> & JsonSerializable<T>,
    options?: StepOptions,
  ): Promise<NoInfer<T>>
  turn<T>(run: (turn: Turn) => Promise<T> | T): Promise<T>

  park(park: Park): Promise<Wake>
  /** Stops for a time, such as `'3 days'`, or until an instant. */
  sleep(time: Sleep): Promise<Wake>
  ask<const S extends StandardSchemaV1>(
    question: AskRequest & { readonly schema: S },
  ): Promise<CheckedAnswer<OutputOf<S>>>
  ask<const C extends readonly (string | Choice)[]>(
    question: AskRequest & { readonly choices: C; readonly schema?: undefined },
  ): Promise<CheckedAnswer<ChoiceOf<C>>>
  ask(question: string | readonly PartInput[] | AskRequest, options?: AskOptions): Promise<Answer>
  requireAuth(question: string | readonly PartInput[], options?: AskOptions): Promise<Answer>
  /** Resolves only when granted. @throws LullError `CONSENT_DENIED` */
  requireConsent(request: ConsentRequest): Promise<Consent>
  /** The artifact that the message refers to. Asks the user when there are several candidates. */
  pickArtifact(name?: string): Promise<ConversationArtifact | undefined>

  say(content: string | readonly PartInput[]): Promise<void>
  /** @param fraction from 0 to 1 */
  progress(fraction: number, text?: string): Promise<void>
  artifact(
    artifact: ArtifactInput,
    options?: { readonly append?: boolean; readonly last?: boolean },
  ): Promise<Artifact>
  artifactStream(name: string, about?: Omit<ArtifactInput, 'name'>): ArtifactStream

  delegate(agent: string, message: string | readonly PartInput[]): Promise<Child>
  usage(usage: UsageReport): Promise<void>
  /** Shortens the transcript with the agent's `compact`. */
  compact(): Promise<void>
  /** Closes the journal and starts a new run with `state`. It never returns. Use it in endless loops. */
  continueAs(state: JsonInput): Promise<never>

  /** Epoch milliseconds, journaled like `uuid()` and `random()`. */
  now(): number
  uuid(): string
  random(): number
  log(level: LogLevel, text: string, facts?: object): void
}
