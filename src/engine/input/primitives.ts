/** Schemas that several inputs share. */

import { z } from 'zod'
import { NOT_A_DURATION, toMs } from '../../core/values/duration.ts'
import { LAST_INSTANT } from '../../core/values/instant.ts'
import type { JsonObject } from '../../core/values/json.ts'
import { json } from './json-input.ts'

export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json)

export const text: z.ZodString = z.string()

export const id: z.ZodString = text.min(1).max(256)

/** A pattern, so that the published JSON schemas contain it too. */
export const NOT_BLANK: RegExp = /\S/

export const BLANK = 'must not be blank'

export const instant: z.ZodISODateTime = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 instant',
})

export const reason: z.ZodString = text.max(1_000, 'must be at most 1,000 characters')

export const summary: z.ZodString = text.max(4_000, 'must be at most 4,000 characters')

export const epochMs: z.ZodNumber = z.number().int().min(0).max(LAST_INSTANT)

/** A duration, as milliseconds after parsing. */
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
