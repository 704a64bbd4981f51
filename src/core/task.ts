/** A task, folded from its log. It is immutable: `evolve` returns the next state. */

import type { Artifact, Message } from './messages/message.ts'
import type { Decision, DeferredAction, Failure, Question, RunToken, Usage } from './records.ts'
import type { AcceptedReminder, PendingReminder } from './reminders/reminders.ts'
import type { State } from './states.ts'
import type { Actor, ResumeCause, Suspension, Wake } from './suspension.ts'
import type { Json, JsonObject } from './values/json.ts'
import type { SpanLink } from './values/span-link.ts'

export interface Task {
  readonly id: string
  readonly tenant: string
  readonly principal: string
  readonly agent: string
  readonly contextId: string
  readonly parentId?: string | undefined
  /** How many parents are above it. Absent for a task without a parent, and in logs that were written before it was counted. */
  readonly depth?: number | undefined
  /**
   * The task whose past was copied to this one, and the key of the operation that ran first after
   * the fork.
   */
  readonly forkedFrom?: { readonly taskId: string; readonly step: string } | undefined
  readonly origin?: string | undefined
  readonly metadata?: JsonObject | undefined
  /** The first message as parsed by the agent's schema. */
  readonly input?: Json | undefined

  /** The sequence number of the last record. Every write is a compare-and-set on it. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number

  readonly state: State
  /** When the task entered this state, or last reported a status in it. */
  readonly statusAt: number
  readonly statusMessage?: Message | undefined
  readonly progress?: number | undefined
  readonly history: readonly Message[]
  readonly artifacts: readonly Artifact[]
  readonly failure?: Failure | undefined

  /** Messages that no turn has seen yet, oldest first. */
  readonly queued: readonly Message[]
  readonly question?: (Question & { readonly key: string }) | undefined

  /** The answer to the last question that was answered. */
  readonly lastAnswer?: GivenAnswer | undefined

  /** A pause that was accepted and has not committed yet: the task quiesces. */
  readonly pausing?: Suspension | undefined
  readonly suspension?: Suspension | undefined
  readonly epoch: number
  readonly wake?: Wake | undefined
  /** Set while no turn has seen the last wake. */
  readonly wakeUnseen?: true | undefined
  readonly resumes: readonly ResumeAnswer[]
  readonly holds: readonly string[]
  readonly deferred?: DeferredAction | undefined

  readonly run?: RunToken | undefined
  /**
   * The trace span that made the task start or continue: that of the request that created or
   * answered it, or of its last resume.
   */
  readonly trace?: SpanLink | undefined
  readonly deaths: number
  /** Steps that were told to stop and did not. They may still act. */
  readonly abandoned: readonly AbandonedStep[]
  readonly turn: number
  readonly journal: Journal
  readonly reminders: readonly PendingReminder[]
  /** The answers to the newest reminders from outside, also for reminders that are gone. */
  readonly reminded: readonly AcceptedReminder[]
  readonly children: readonly string[]
  readonly usage: Required<Usage>

  /**
   * Events up to this position never wake the task: they are older than the task, were removed from
   * the store, or woke it long ago.
   */
  readonly eventsAfter: number
  /** Positions after `eventsAfter` of events that woke this task. No event wakes it twice. */
  readonly consumed: readonly number[]
  readonly receipts: {
    readonly count: number
    /** The hash of the last receipt; empty when there is none. */
    readonly head: string
    /** The version of the last receipt. Absent for version 1, which had no anchor. */
    readonly version?: 2
  }
}

/** Who answered a question, kept for those who come later. */
export interface GivenAnswer {
  /** Absent in old logs. */
  readonly actor?: Actor
  readonly decision?: Decision
  readonly consentId?: string
  readonly at: number
}

/** A step with attempts that the task no longer waits for. */
export interface AbandonedStep {
  readonly key: string
  readonly name: string
  readonly attempts: readonly number[]
}

/**
 * The answer to a resume. It is kept for repeated requests, and to tell later resumes what ended
 * the suspension.
 */
export interface ResumeAnswer {
  readonly handle: string
  readonly cause: ResumeCause
  readonly resumedAt: number
  readonly hadResumeInput: boolean
  readonly continueTranscript: boolean
  readonly previousState: State
  readonly state: State
  readonly idempotencyKey?: string
}

/**
 * The part of the log that is the current journal. It begins anew with each `continueAs`; older
 * entries stay in the log.
 */
export interface Journal {
  /** Grows with every `continueAs`, and is part of every idempotency key. */
  readonly generation: number
  readonly afterSeq: number
  /**
   * Where counting towards the journal limit begins. It moves forward when an operator resumes past
   * the limit.
   */
  readonly countFrom: number
  readonly state?: Json
  /** The last wake before this journal began. A run sees it at its beginning. */
  readonly wake?: Wake
  readonly voided: readonly string[]
}

/** The most resume answers that a task remembers. */
export const RESUME_MEMORY = 64
