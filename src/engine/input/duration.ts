/** A duration, as milliseconds after parsing. */
import { z } from 'zod'
import { NOT_A_DURATION, toMs } from '../../core/values/duration.ts'

export const duration: z.ZodType<number> = z.unknown().check((payload) => {
  const ms = toMs(payload.value)
  if (ms !== undefined) payload.value = ms
  else {
    const { value: input, issues } = payload
    issues.push({ code: 'custom', path: [], input, message: NOT_A_DURATION })
  }
}) as z.ZodType<number>

export const positiveDuration: z.ZodType<number> = duration.refine(
  (ms) => ms > 0,
  'must be longer than 0',
)
