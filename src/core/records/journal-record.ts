import type { Artifact, Message } from '../messages/message.ts'
import type { TranscriptEntry } from '../messages/transcript.ts'
import type { TurnOutcome } from '../reminders/reminders.ts'
import type { Json } from '../values/json.ts'
import type { ChildResult, Failure, UsageReport } from './record-values.ts'

/**
 * The result of one operation of a run. A rebuilt run finds it by `key` and does not execute the
 * operation again.
 */
export type JournalRecord = {
  /**
   * Set when changed code called this operation before operations that were already recorded, so
   * log order differs from code order.
   */
  readonly inserted?: true
} & (
  | {
      readonly type: 'step'
      readonly key: string
      readonly name: string
      readonly attempt: number
      readonly result?: Json
      readonly failure?: Failure
      readonly topLevel?: true
      /** SHA-256 of the canonical JSON of the input, if the code gave one. */
      readonly inputDigest?: string
    }
  /** An attempt that did not end the step: a pause interrupted it, or it failed and is retried. */
  | {
      readonly type: 'attempt'
      readonly key: string
      readonly attempt: number
      readonly outcome: 'interrupted' | 'failed'
      readonly failure?: Failure
    }
  /**
   * A step's function was told to stop and was still running after `abandonAfterMs`. The task no
   * longer waits for it, and it may still act. `settled`: that execution has ended since.
   */
  | {
      readonly type: 'abandoned'
      readonly key: string
      readonly name: string
      readonly attempt: number
      readonly settled?: true
    }
  /**
   * The agent's `run` function returned while these operations were still open. `operations` has
   * the keys of the first ones.
   */
  | {
      readonly type: 'not-awaited'
      readonly key: string
      readonly operations: readonly string[]
      readonly count: number
    }
  | { readonly type: 'skipped'; readonly key: string; readonly name: string }
  | {
      readonly type: 'said'
      readonly key: string
      readonly message?: Message
      readonly progress?: number
    }
  | {
      readonly type: 'artifact'
      readonly key: string
      readonly artifact: Artifact
      readonly append: boolean
      readonly last: boolean
      /**
       * For text of a step's stream: the id of the attempt that wrote it. A reader that followed
       * this attempt live gets only the rest.
       */
      readonly attempt?: string
    }
  | { readonly type: 'usage'; readonly key: string; readonly usage: UsageReport }
  /** `task.now()`, `task.uuid()`, `task.random()`. */
  | { readonly type: 'value'; readonly key: string; readonly value: Json }
  | {
      readonly type: 'turn-ended'
      readonly key: string
      readonly turn: number
      /** Absent for a turn that completed. */
      readonly outcome?: TurnOutcome
      readonly transcript: readonly TranscriptEntry[]
    }
  | {
      readonly type: 'compacted'
      readonly key: string
      readonly transcript: readonly TranscriptEntry[]
    }
  | {
      readonly type: 'delegated'
      readonly key: string
      readonly childId: string
      readonly agent: string
      readonly message: Message
      /** The message as parsed by the agent's schema. Absent without a schema, and in old logs. */
      readonly input?: Json
    }
  | { readonly type: 'child-ended'; readonly key: string; readonly result: ChildResult }
  /** A control call of a parent on a child, such as `child.pause()`. A rebuilt run does not repeat it. */
  | {
      readonly type: 'child-called'
      readonly key: string
      readonly call: string
      readonly result: Json
      readonly failure?: Failure
    }
)
