/** `urn:lull:a2a:task-control:1`: results of the methods, metadata of tasks, and the parameters on the card. */

import { z } from 'zod'
import { type State, states } from '../../../core/states.ts'
import type { PauseMode, ResumeCause, Suspension } from '../../../core/suspension.ts'
import type { ResumeConditions } from '../../../core/waiting/conditions.ts'
import {
  resumeCause as cause,
  initiator,
  pauseMode,
  resumeConditions,
} from '../../../engine/input/inputs.ts'
import { epoch, exactly, handle, id, instant, reason, summary } from './vocabulary.ts'

export interface Paused {
  readonly taskId: string
  readonly state: 'paused-by-client'
  readonly handle: string
  readonly pausedAt: string
  readonly reason?: string
  readonly conditions?: ResumeConditions
  readonly deadlineAt?: string
  readonly mayStillAct?: readonly string[]
}

/** Answer to a pause that was accepted while the task has not reached a boundary. */
export interface Pausing {
  readonly taskId: string
  readonly state: 'working'
  readonly pausing: true
  readonly handle: string
  readonly requestedAt: string
  readonly reason?: string
  readonly conditions?: ResumeConditions
  readonly deadlineAt?: string
  readonly mayStillAct?: readonly string[]
}

/** Names of steps that were told to stop and did not. They may act although the task is stopped. */
const mayStillAct = z.array(z.string()).readonly()

const asked = {
  reason: reason.exactOptional(),
  conditions: resumeConditions.exactOptional(),
  deadlineAt: instant.exactOptional(),
  mayStillAct: mayStillAct.exactOptional(),
}

const pausingShape = z.strictObject({
  taskId: id,
  state: z.literal('working'),
  pausing: z.literal(true),
  handle,
  requestedAt: instant,
  ...asked,
})

export const pauseResult: z.ZodType<Paused | Pausing> = exactly<Paused | Pausing>()(
  z.union([
    z.strictObject({
      taskId: id,
      state: z.literal('paused-by-client'),
      handle,
      pausedAt: instant,
      ...asked,
    }),
    pausingShape,
  ]),
)

/** How a stop ended. */
export interface ResumeFacts {
  readonly previousState: State
  readonly cause: ResumeCause
  readonly hadResumeInput: boolean
  readonly continueTranscript: boolean
  readonly resumedAt: string
}

export const state: z.ZodType<State> = z.enum(states)

/** Members that the RFC's notifications also contain. */
export const resumed: {
  readonly previousState: z.ZodType<State>
  readonly cause: z.ZodType<ResumeCause>
  readonly hadResumeInput: z.ZodBoolean
  readonly continueTranscript: z.ZodBoolean
  readonly resumedAt: z.ZodType<string>
} = {
  previousState: state,
  cause,
  hadResumeInput: z.boolean(),
  continueTranscript: z.boolean(),
  resumedAt: instant,
}

export interface Resumed extends ResumeFacts {
  readonly taskId: string
  readonly state: State
}

export const resumeResult: z.ZodType<Resumed> = exactly<Resumed>()(
  z.strictObject({ taskId: id, state, ...resumed }),
)

export interface Parked {
  readonly taskId: string
  readonly state: 'paused-by-agent'
  readonly handle: string
  readonly pausedAt: string
}

export const awaitResumptionResult: z.ZodType<Parked | Pausing> = exactly<Parked | Pausing>()(
  z.union([
    z.strictObject({ taskId: id, state: z.literal('paused-by-agent'), handle, pausedAt: instant }),
    pausingShape,
  ]),
)

export interface StoppedFacts {
  readonly state: 'paused-by-client' | 'paused-by-agent'
  readonly handle: string
  readonly epoch: number
  readonly initiator: Suspension['initiator']
  readonly reason?: string
  readonly summary?: string
  readonly pausedAt: string
  readonly deadlineAt?: string
  readonly conditions?: ResumeConditions
  readonly mayStillAct?: readonly string[]
}

export interface PausingFacts {
  readonly state: 'active'
  readonly pausing: true
  readonly handle: string
  readonly requestedAt: string
  readonly reason?: string
  readonly mode?: PauseMode
}

export interface ResumedFacts extends ResumeFacts {
  readonly state: 'active'
}

export interface ActiveFacts {
  readonly state: 'active'
}

export type TaskControlFacts = StoppedFacts | PausingFacts | ResumedFacts | ActiveFacts

export const taskControlMetadata: z.ZodType<TaskControlFacts> = exactly<TaskControlFacts>()(
  z.union([
    z.strictObject({
      state: z.enum(['paused-by-client', 'paused-by-agent']),
      handle,
      epoch,
      initiator,
      reason: reason.exactOptional(),
      summary: summary.exactOptional(),
      pausedAt: instant,
      deadlineAt: instant.exactOptional(),
      conditions: resumeConditions.exactOptional(),
      mayStillAct: mayStillAct.exactOptional(),
    }),
    z.strictObject({
      state: z.literal('active'),
      pausing: z.literal(true),
      handle,
      requestedAt: instant,
      reason: reason.exactOptional(),
      mode: pauseMode.exactOptional(),
    }),
    z.strictObject({ state: z.literal('active'), ...resumed }),
    z.strictObject({ state: z.literal('active') }),
  ]),
)

export interface TaskControlParams {
  readonly pause: true
  readonly selfPark: true
  readonly modes: readonly PauseMode[]
  readonly resumeCauses: readonly ResumeCause[]
  readonly substateOf: {
    readonly 'paused-by-client': string
    readonly 'paused-by-agent': string
  }
}

export const taskControlParams: z.ZodType<TaskControlParams> = exactly<TaskControlParams>()(
  z.strictObject({
    pause: z.literal(true),
    selfPark: z.literal(true),
    modes: z.array(pauseMode),
    resumeCauses: z.array(cause),
    substateOf: z.strictObject({ 'paused-by-client': z.string(), 'paused-by-agent': z.string() }),
  }),
)

/** The fields that the RFC adds to the capabilities of a 0.3 card. */
export interface PauseCapabilities {
  readonly supportsPause: true
  readonly supportsAwaitResumption: true
  readonly resumeCauses: readonly ResumeCause[]
}

export const pauseCapabilities: z.ZodType<PauseCapabilities> = exactly<PauseCapabilities>()(
  z.object({
    supportsPause: z.literal(true),
    supportsAwaitResumption: z.literal(true),
    resumeCauses: z.array(cause),
  }),
)
