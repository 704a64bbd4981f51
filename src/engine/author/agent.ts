/** The definition of an agent: its `run` function and the contents of its card. */
import { LullError } from '../../core/errors.ts'
import type { Message, Part, PartInput } from '../../core/messages/message.ts'
import type { TranscriptEntry } from '../../core/messages/transcript.ts'
import type { UsageReport } from '../../core/records.ts'
import { checkedSchedules, type Schedule } from '../wakes/schedules/schedule.ts'
import type { AgentTask, ArtifactInput } from './agent-task.ts'
import type { Conversation } from './conversation.ts'
import { checkProviders } from './providers/built-in.ts'
import type { ReminderProviders } from './providers/provider.ts'
import { isSchema, type OutputOf, type StandardSchemaV1 } from './standard-schema.ts'
import type { JsonSerializable } from './step-result.ts'

export interface Skill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[]
}

/**
 * What `receive` gets beside the message: the conversation so far, and two ways to answer without
 * starting a task.
 */
export interface ReceiveContext {
  readonly context: Conversation
  readonly principal: string
  /** Answers with a stateless message. No task is created. */
  readonly reply: (content: string | readonly PartInput[]) => ReceiveResult
  /** Creates a task that is `rejected` at once. */
  readonly reject: (why: string) => ReceiveResult
}

export type ReceiveResult =
  | { readonly kind: 'reply'; readonly parts: readonly Part[] }
  | { readonly kind: 'reject'; readonly why: string }

/** What `run` may return: nothing, a text or parts for the final status message, or a last artifact. */
// biome-ignore lint/suspicious/noConfusingVoidType: a run that returns nothing is welcome
export type Outcome = void | string | readonly PartInput[] | ArtifactInput

/** The schema of an agent that does not declare its input. */
export type NoSchema = StandardSchemaV1<unknown, undefined>

/** Reports the usage of a function of the agent, for budgets. Call it once. */
export type Spend = (usage: UsageReport) => void

export interface AgentDefinition<S extends StandardSchemaV1 = NoSchema> {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly skills?: readonly Skill[]
  /**
   * What a message must contain to start a task: any Standard Schema, such as one of zod. It
   * validates the first data part, or else the text. Other messages are refused before a task
   * exists. The validated value is `task.input`.
   */
  readonly input?: S & JsonSerializable<OutputOf<S>>
  /** Called before a task exists. Returns `reply(…)`, `reject(…)`, or nothing to start a task. */
  readonly receive?: (
    message: Message,
    context: ReceiveContext,
  ) => Promise<ReceiveResult | undefined> | ReceiveResult | undefined
  /** Times at which a message starts a task automatically, once per time in the whole cluster. */
  readonly schedule?: readonly Schedule[]
  /** May be absent for an agent whose `receive` always replies. */
  run?(task: AgentTask<OutputOf<S>>): Promise<Outcome> | Outcome
  /**
   * Frees what the agent keeps open between tasks, such as connections. Called when the engine has
   * stopped all tasks, or when the agent was replaced and no task in memory uses it. Another engine
   * may use the agent afterwards.
   */
  close?(): Promise<void> | void
  /** How many tasks of the agent run at the same time. Stopped tasks do not count. Default 64. */
  readonly concurrency?: number
  /**
   * What happens when a rebuilt task calls a step that is not recorded, before steps that are
   * recorded. `stop` (default) stops the task for an operator. `run` executes the step. If the step
   * was only renamed, that repeats its side effect.
   */
  readonly newSteps?: 'stop' | 'run'
  /**
   * Fails a task whose code ends while an operation is open that the code did not await. Without
   * `strict`, Lull waits for the operation, and reports this in the task and in the log.
   */
  readonly strict?: boolean
  /** False if the agent's tasks cannot be paused. */
  readonly pause?: boolean
  /** False if the agent takes no reminders. Its providers are then switched off. */
  readonly reminders?: boolean
  /**
   * Providers of reminders, by name. These are built in and on: `resumed`, `tokenPressure`, `toolOutputTruncated`,
   * `idle`. False switches one off. A function replaces one or adds one.
   */
  readonly providers?: ReminderProviders
  /** Reads consent from free text. Returns true, false, or undefined to ask again. */
  readonly acceptTextConsent?: (text: string) => boolean | undefined
  /**
   * Returns the text that replaces the transcript after a resume with `continueTranscript: false`.
   * A function that calls a model reports its usage with `spend`.
   */
  readonly digest?: (
    transcript: readonly TranscriptEntry[],
    spend: Spend,
  ) => Promise<string> | string
  /** Shortens a transcript that has more than `transcriptLimit` entries. */
  readonly compact?: (
    transcript: readonly TranscriptEntry[],
    spend: Spend,
  ) => Promise<readonly TranscriptEntry[]> | readonly TranscriptEntry[]
  /** The most transcript entries before `compact` is called. Default 1,000. */
  readonly transcriptLimit?: number
}

export type Agent = Readonly<AgentDefinition<StandardSchemaV1>>

/**
 * Defines an agent.
 * @throws LullError `INVALID_INPUT`
 *
 * @example
 * ```ts
 * import { agent, serve } from 'lull'
 *
 * const greeter = agent({
 *   name: 'greeter',
 *   description: 'Greets whoever writes',
 *   run: (task) => `Hello, ${task.text}!`,
 * })
 *
 * await serve({ agents: [greeter] })
 * ```
 */
export function agent<S extends StandardSchemaV1 = NoSchema>(
  definition: AgentDefinition<S>,
): Agent {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(definition.name)) {
    const problem = 'must be 1 to 64 letters, digits, dots, hyphens or underscores'
    throw new LullError('INVALID_INPUT', { path: 'name', problem })
  }
  if (definition.run === undefined && definition.receive === undefined) {
    throw new LullError('INVALID_INPUT', { path: 'run', problem: 'an agent needs run or receive' })
  }
  if (definition.input !== undefined && !isSchema(definition.input)) {
    const problem = 'must be a Standard Schema, such as one of zod, valibot or arktype'
    throw new LullError('INVALID_INPUT', { path: 'input', problem })
  }
  if (definition.schedule !== undefined) checkedSchedules(definition.schedule)
  if (definition.providers !== undefined) checkProviders(definition.providers)
  return Object.freeze({ ...definition })
}

/**
 * An agent throws it to end the task as `rejected`. `reject` makes one.
 *
 * @example
 * ```ts
 * import { agent, Rejection } from 'lull'
 *
 * class OutOfScope extends Rejection {}
 *
 * export const librarian = agent({
 *   name: 'librarian',
 *   description: 'Finds books',
 *   run(task) {
 *     if (!task.text.includes('book')) throw new OutOfScope('I only know books')
 *     return 'On the second shelf'
 *   },
 * })
 * ```
 */
export class Rejection extends Error {
  override readonly name = 'Rejection'
}

/**
 * For `throw reject('why')`, which ends the task as `rejected`.
 *
 * @example
 * ```ts
 * import { agent, reject } from 'lull'
 *
 * export const translator = agent({
 *   name: 'translator',
 *   description: 'Translates short texts',
 *   async run(task) {
 *     if (task.text.length > 1_000) throw reject('The text is too long')
 *     const translation = await task.step('translate', () => `${task.text}, in French`)
 *     return translation
 *   },
 * })
 * ```
 */
export function reject(why: string): Rejection {
  return new Rejection(why)
}

/**
 * A step throws it to fail without a retry.
 *
 * @example
 * ```ts
 * import { agent, Fatal } from 'lull'
 *
 * export const fetcher = agent({
 *   name: 'fetcher',
 *   description: 'Fetches a page',
 *   async run(task) {
 *     const fetchPage = async (): Promise<string> => {
 *       const response = await fetch(task.text)
 *       if (response.status === 404) throw new Fatal('no such page')
 *       if (!response.ok) throw new Error(`status ${response.status}`)
 *       return response.text()
 *     }
 *     const page = await task.step('fetch', fetchPage, { retry: { attempts: 3 } })
 *     return page
 *   },
 * })
 * ```
 */
export class Fatal extends Error {
  override readonly name: string = 'Fatal'
}
