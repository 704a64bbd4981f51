/** Schemas that several shapes use. */
import { z } from 'zod'

export const id: z.ZodType<string> = z.string().min(1).max(256)
export const handle: z.ZodType<string> = z.string().min(1)
/** An instant in UTC with milliseconds. */
export const instant: z.ZodType<string> = z.iso.datetime({ precision: 3 })
export const reason: z.ZodType<string> = z.string().max(1_000)
export const summary: z.ZodType<string> = z.string().max(4_000)
export const epoch: z.ZodType<number> = z.number().int().positive()
