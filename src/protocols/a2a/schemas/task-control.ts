/** `urn:lull:a2a:task-control:1`: results of the methods, metadata of tasks, and the parameters on the card. */
import { z } from 'zod'
import { type State, states } from '../../../core/states.ts'
import {
  resumeCause as cause,
  initiator,
  pauseMode,
  resumeConditions,
} from '../../../engine/input/inputs.ts'
import { epoch, handle, id, instant, reason, type ShapeOf, summary } from './vocabulary.ts'

export const state: z.ZodType<State> = z.enum(states)
export const pausedState = z.enum(['paused-by-client', 'paused-by-agent'])

/** Names of steps that were told to stop and did not. They may act although the task is stopped. */
const mayStillAct = z.array(z.string()).readonly()

const asked = {
  reason: reason.exactOptional(),
  conditions: resumeConditions.exactOptional(),
  deadlineAt: instant.exactOptional(),
  mayStillAct: mayStillAct.exactOptional(),
}

export type Paused = ShapeOf<typeof paused>

const paused = z.strictObject({
  taskId: id,
  state: z.literal('paused-by-client'),
  handle,
  pausedAt: instant,
  ...asked,
})

export type Pausing = ShapeOf<typeof pausing>

/** Answer to a pause that was accepted while the task has not reached a boundary. */
const pausing = z.strictObject({
  taskId: id,
  state: z.literal('working'),
  pausing: z.literal(true),
  handle,
  requestedAt: instant,
  ...asked,
})

export const pauseResult = z.union([paused, pausing])

export type ResumeFacts = ShapeOf<z.ZodObject<typeof resumed>>

/** How a stop ended. The notifications of the RFC have these members too. */
export const resumed = {
  previousState: state,
  cause,
  hadResumeInput: z.boolean(),
  continueTranscript: z.boolean(),
  resumedAt: instant,
}

export type Resumed = ShapeOf<typeof resumeResult>

export const resumeResult = z.strictObject({ taskId: id, state, ...resumed })

export type Parked = ShapeOf<typeof parked>

const parked = z.strictObject({
  taskId: id,
  state: z.literal('paused-by-agent'),
  handle,
  pausedAt: instant,
})

export const awaitResumptionResult = z.union([parked, pausing])

export type StoppedFacts = ShapeOf<typeof stoppedFacts>

const stoppedFacts = z.strictObject({
  state: pausedState,
  handle,
  epoch,
  initiator,
  reason: reason.exactOptional(),
  summary: summary.exactOptional(),
  pausedAt: instant,
  deadlineAt: instant.exactOptional(),
  conditions: resumeConditions.exactOptional(),
  mayStillAct: mayStillAct.exactOptional(),
})

export type PausingFacts = ShapeOf<typeof pausingFacts>

const pausingFacts = z.strictObject({
  state: z.literal('active'),
  pausing: z.literal(true),
  handle,
  requestedAt: instant,
  reason: reason.exactOptional(),
  mode: pauseMode.exactOptional(),
})

export type TaskControlFacts = ShapeOf<typeof taskControlMetadata>

export const taskControlMetadata = z.union([
  stoppedFacts,
  pausingFacts,
  z.strictObject({ state: z.literal('active'), ...resumed }),
  z.strictObject({ state: z.literal('active') }),
])

export type TaskControlParams = ShapeOf<typeof taskControlParams>

export const taskControlParams = z.strictObject({
  pause: z.literal(true),
  selfPark: z.literal(true),
  modes: z.array(pauseMode),
  resumeCauses: z.array(cause),
  substateOf: z.strictObject({ 'paused-by-client': z.string(), 'paused-by-agent': z.string() }),
})

export type PauseCapabilities = ShapeOf<typeof pauseCapabilities>

/** The fields that the RFC adds to the capabilities of a 0.3 card. */
export const pauseCapabilities = z.object({
  supportsPause: z.literal(true),
  supportsAwaitResumption: z.literal(true),
  resumeCauses: z.array(cause),
})
