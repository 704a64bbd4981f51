/** What an author writes: a `run` function plus a card. */
import { LullError } from '../core/errors.ts'
import type { Message, Part } from '../core/message.ts'
import type { TranscriptEntry } from '../core/transcript.ts'
import type { AgentTask, ArtifactInput } from './agent-task.ts'
import type { Conversation } from './conversation.ts'
import { checkProviders } from './providers/built-in.ts'
import type { ReminderProviders } from './providers/provider.ts'

export interface Skill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[]
}

/** How `receive` answers before a task exists. */
export interface ReceiveContext {
  readonly context: Conversation
  readonly principal: string
  /** Answer with a stateless message. */
  readonly reply: (content: string | readonly Part[]) => ReceiveResult
  readonly reject: (why: string) => ReceiveResult
}

export type ReceiveResult =
  | { readonly kind: 'reply'; readonly parts: readonly Part[] }
  | { readonly kind: 'reject'; readonly why: string }

/** What a run may return: nothing, a text or parts for the final status, or a last artifact. */
// biome-ignore lint/suspicious/noConfusingVoidType: a run that returns nothing is welcome
export type Outcome = void | string | readonly Part[] | ArtifactInput

export interface AgentDefinition {
  readonly name: string
  readonly description: string
  readonly version?: string
  readonly skills?: readonly Skill[]
  /** Decide before a task exists: `reply`, `reject`, or nothing and a task starts. */
  readonly receive?: (
    message: Message,
    context: ReceiveContext,
  ) => Promise<ReceiveResult | undefined> | ReceiveResult | undefined
  /** May be absent for an agent that always replies. */
  readonly run?: (task: AgentTask) => Promise<Outcome> | Outcome
  /** How many of its tasks run at the same time; waiting ones do not count. Default 64. */
  readonly concurrency?: number
  /**
   * What happens when a rebuilt task comes to a step that it does not know, in front of others that it has recorded:
   * `stop` (default) asks an operator, `run` takes it for new and runs it, which repeats a step that was only renamed.
   */
  readonly newSteps?: 'stop' | 'run'
  /** False: the agent's tasks cannot be paused. */
  readonly pause?: boolean
  /** False: the agent takes no reminders, and its providers are off. */
  readonly reminders?: boolean
  /**
   * What reminds its tasks by itself, by name. Built in and on: `resumed`, `tokenPressure`, `toolOutputTruncated`, `idle`.
   * False switches one off, a function replaces or adds one.
   */
  readonly providers?: ReminderProviders
  /** Reads consent out of free text: true, false, or undefined to ask again. */
  readonly acceptTextConsent?: (text: string) => boolean | undefined
  /** What a turn sees instead of the transcript after `continueTranscript: false`. */
  readonly digest?: (transcript: readonly TranscriptEntry[]) => Promise<string> | string
  /** Shortens a transcript that grew over `transcriptLimit` entries. */
  readonly compact?: (
    transcript: readonly TranscriptEntry[],
  ) => Promise<readonly TranscriptEntry[]> | readonly TranscriptEntry[]
  /** Default 1,000. */
  readonly transcriptLimit?: number
}

export type Agent = Readonly<AgentDefinition>

/** Defines an agent. */
export function agent(definition: AgentDefinition): Agent {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(definition.name)) {
    const problem = 'must be 1 to 64 letters, digits, dots, hyphens or underscores'
    throw new LullError('INVALID_INPUT', { path: 'name', problem })
  }
  if (definition.run === undefined && definition.receive === undefined) {
    throw new LullError('INVALID_INPUT', { path: 'run', problem: 'an agent needs run or receive' })
  }
  if (definition.providers !== undefined) checkProviders(definition.providers)
  return Object.freeze({ ...definition })
}

/** Thrown by an agent, it ends the task as rejected. */
export class Rejection extends Error {
  override readonly name = 'Rejection'
}

/** `throw reject('why')` ends the task as `rejected`. */
export function reject(why: string): Rejection {
  return new Rejection(why)
}

/** Thrown inside a step, it is not retried: trying again would not help. */
export class Fatal extends Error {
  override readonly name: string = 'Fatal'
}
