/** The `task` an agent's `run` is given. Every operation is journaled: a rebuilt run repeats none of them. */
import type { ResumeConditions } from '../core/conditions.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Artifact, Message, Part } from '../core/message.ts'
import type { ChildResult, LogRecord, UsageReport } from '../core/records.ts'
import type { Reminder } from '../core/reminders.ts'
import type { PauseMode, Wake } from '../core/suspension.ts'
import type { Task } from '../core/task.ts'
import type { TranscriptEntry } from '../core/transcript.ts'
import type { LogLevel } from '../ports/log.ts'
import type { Conversation, ConversationArtifact } from './conversation.ts'
import type { ReminderRequest } from './requests.ts'
import type { JsonSerializable } from './step-result.ts'

export interface StepContext {
  /** Fires when a pause interrupts, on cancel, and on `timeoutMs`. An offer: a step that ignores it completes. */
  readonly signal: AbortSignal
  /** 32 hexadecimal digits, the same for every attempt of this step, across crashes: hand it to what you call. */
  readonly idempotencyKey: string
  /** 1, then one more for each recorded attempt. A crash leaves no record of the attempt it ended. */
  readonly attempt: number
  /**
   * False only when no execution of this step can have begun before this one. True after a retry, an abort, a crash or a
   * lost lease that may have fallen into it, and inside a step for which it is true.
   */
  readonly mayHaveRun: boolean
  /**
   * Live output of this attempt as an artifact of that name: readers see it while it is written, and the whole text is
   * recorded with the step's result. A new attempt starts it anew. The same name is the same stream.
   */
  stream(name: string): StepStream
}

export interface StepStream {
  readonly artifactId: string
  /** Adds to the text. @throws LullError `STEP_RESULT` when the text is too long or the attempt is over */
  write(text: string): void
}

/** `throw new Fatal('why')` inside the step ends the retries. */
export interface Retry {
  /** Further attempts after a failure. */
  readonly attempts: number
  /** The pause before the first of them. Default 200. */
  readonly backoffMs?: number
  /** Each further pause is this much longer. Default 2. */
  readonly factor?: number
  /** No pause is longer. Default 60,000. */
  readonly maxBackoffMs?: number
}

export interface StepOptions {
  readonly retry?: Retry
  readonly timeoutMs?: number
  /** Names the journal entry explicitly, in place of name and occurrence. */
  readonly key?: string
  /**
   * The step is new in front of operations that running tasks have recorded: a rebuilt task runs it once. Without this
   * such a task is stopped, because a new step cannot be told from one that was renamed.
   */
  readonly added?: boolean
}

export type StepFunction<T> = (step: StepContext) => Promise<T> | T

export interface Park extends ResumeConditions {
  readonly reason: string
  readonly summary?: string
}

export interface Answer {
  readonly text: string
  readonly message: Message
  /** The first data part, if any. */
  readonly data?: Json
}

export interface AskOptions {
  /** Epoch milliseconds; the task fails when nobody answered by then. */
  readonly expiresAt?: number
}

export interface ConsentRequest {
  readonly prompt: string
  /** What exactly is consented to; the answer is bound to it. */
  readonly operation: Json
  readonly scope?: Json
  readonly expiresAt?: number
}

/** An artifact to be made: text, data, base64 bytes or parts. */
export interface ArtifactInput {
  readonly name?: string
  readonly description?: string
  readonly text?: string
  readonly data?: Json
  readonly base64?: string
  readonly parts?: readonly Part[]
  readonly mediaType?: string
  readonly artifactId?: string
  readonly metadata?: JsonObject
}

export interface ArtifactStream {
  readonly artifactId: string
  write(chunk: string | Part): Promise<void>
  close(): Promise<Artifact>
}

export interface Tool {
  readonly name: string
  readonly run: StepFunction<unknown>
}

export type ToolResult =
  | { readonly name: string; readonly status: 'done'; readonly result: Json }
  | { readonly name: string; readonly status: 'failed'; readonly error: string }
  | { readonly name: string; readonly status: 'skipped' }

export interface Turn {
  /** 1, 2, 3… */
  readonly number: number
  /** Reading again shows what arrived during the turn. */
  readonly reminders: readonly Reminder[]
  /** The reminders as one block for a model; empty when there are none. */
  readonly reminderBlock: string
  /** What was said to the task since the turn before. */
  readonly messages: readonly Message[]
  readonly transcript: readonly TranscriptEntry[]
  readonly wake: Wake | undefined
  /** Adds what the loop said or heard to the transcript. */
  record(role: 'agent' | 'tool', content: Json): void
  tool<T>(
    name: string,
    run: StepFunction<T> & JsonSerializable<T>,
    options?: StepOptions,
  ): Promise<T>
  /** A batch, one after the other; a reminder that interrupts skips the rest. A failed tool does not stop the batch. */
  tools(tools: readonly Tool[]): Promise<readonly ToolResult[]>
}

/** A sub-task as its parent sees it. */
export interface Child {
  readonly id: string
  readonly agent: string
  /** Waits for its end. The parent's slot is free meanwhile. */
  result(): Promise<ChildResult>
  get(): Promise<Task>
  watch(): AsyncIterable<LogRecord>
  pause(options?: { readonly reason?: string; readonly mode?: PauseMode }): Promise<void>
  resume(options?: { readonly input?: Json; readonly continueTranscript?: boolean }): Promise<void>
  cancel(reason?: string): Promise<void>
  remind(reminder: ReminderRequest): Promise<void>
}

export interface AgentTask {
  readonly id: string
  readonly contextId: string
  /** The text of the message that started it. */
  readonly text: string
  readonly message: Message
  /** What the run has seen so far: the first message, those its turns saw, and answers. */
  readonly messages: readonly Message[]
  readonly metadata: JsonObject
  readonly principal: string
  readonly tenant: string
  /** Fires on cancel and when the run is given up (eviction, discard); never on a pause. */
  readonly signal: AbortSignal
  readonly context: Conversation
  /** Tasks and artifacts the message refers to. */
  readonly referenced: {
    readonly tasks: readonly Task[]
    readonly artifacts: readonly ConversationArtifact[]
  }
  /** The state `continueAs` handed over. */
  readonly state: Json | undefined
  /** The last wake, also after somebody else's pause. */
  readonly wake: Wake | undefined

  /**
   * What the task is reminded of, for agents without `task.turn`: each step outside of another is a turn of theirs. Inside
   * `task.turn` it is what that turn sees.
   */
  readonly reminders: readonly Reminder[]
  /** The reminders as one block for a model; empty when there are none. */
  readonly reminderBlock: string

  step<T>(
    name: string,
    run: StepFunction<T> & JsonSerializable<T>,
    options?: StepOptions,
  ): Promise<T>
  turn<T>(run: (turn: Turn) => Promise<T> | T): Promise<T>

  park(park: Park): Promise<Wake>
  sleep(ms: number): Promise<Wake>
  ask(question: string | readonly Part[], options?: AskOptions): Promise<Answer>
  requireAuth(question: string | readonly Part[], options?: AskOptions): Promise<Answer>
  /** Resolves only when granted. @throws LullError `CONSENT_DENIED` */
  requireConsent(request: ConsentRequest): Promise<Answer>
  /** The artifact that is meant; asks back when there are several candidates and none is named. */
  pickArtifact(name?: string): Promise<ConversationArtifact | undefined>

  say(content: string | readonly Part[]): Promise<void>
  /** @param fraction from 0 to 1 */
  progress(fraction: number, text?: string): Promise<void>
  artifact(
    artifact: ArtifactInput,
    options?: { readonly append?: boolean; readonly last?: boolean },
  ): Promise<Artifact>
  artifactStream(name: string, about?: Omit<ArtifactInput, 'name'>): ArtifactStream

  delegate(agent: string, message: string | readonly Part[]): Promise<Child>
  usage(usage: UsageReport): Promise<void>
  /** Shortens the transcript now, with the agent's `compact`. */
  compact(): Promise<void>
  /** Closes the journal and starts the run again with `state`; never returns. For loops without end. */
  continueAs(state: Json): Promise<never>

  /** Epoch milliseconds, journaled. */
  now(): number
  uuid(): string
  random(): number
  log(level: LogLevel, text: string, facts?: Readonly<Record<string, unknown>>): void
}
