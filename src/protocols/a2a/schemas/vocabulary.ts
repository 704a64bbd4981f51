/** What several shapes use: the type that belongs to a schema, and schemas of common members. */

import { z } from 'zod'

export const id: z.ZodType<string> = z.string().min(1).max(256)
export const handle: z.ZodType<string> = z.string().min(1)
/** An instant in UTC with milliseconds. */
export const instant: z.ZodType<string> = z.iso.datetime({ precision: 3 })
export const reason: z.ZodType<string> = z.string().max(1_000)
export const summary: z.ZodType<string> = z.string().max(4_000)
export const epoch: z.ZodType<number> = z.number().int().positive()

type Frozen<T> = T extends readonly (infer U)[]
  ? readonly Frozen<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T

/** The type of what is written in the shape of a schema. */
export type ShapeOf<S extends z.ZodType> = Frozen<z.output<S>>
