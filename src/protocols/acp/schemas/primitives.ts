/** Schemas that several others contain. */
import { z } from 'zod'
import { initiator, resumeCause, resumeConditions } from '../../../engine/input/inputs.ts'

export const sessionId: z.ZodString = z.string().min(1).max(256)
export const handle: z.ZodString = z.string().min(1).max(256)
/** The path of a file or directory. */
export const path: z.ZodString = z.string().max(4_096)
export const reason: z.ZodString = z.string().max(1_000)
export const summary: z.ZodString = z.string().max(4_000)
export const instant: z.ZodISODateTime = z.iso.datetime()
export const epoch: z.ZodNumber = z.number().int().positive()
export const meta: z.ZodType<Record<string, unknown> | null | undefined> = z
  .record(z.string(), z.unknown())
  .nullish()

/** The members of the RFC for a stop. */
export const stop: Readonly<Record<string, z.ZodType>> = {
  handle,
  reason: reason.optional(),
  initiator,
  suspendedAt: instant,
  resumeWhen: resumeConditions.optional(),
}

/** The members of the RFC for a wake. */
export const wake: Readonly<Record<string, z.ZodType>> = {
  handle,
  cause: resumeCause,
  hadResumeInput: z.boolean(),
  continueTranscript: z.boolean(),
  resumedAt: instant,
}
