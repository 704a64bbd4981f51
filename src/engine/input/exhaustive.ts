/** Types for schemas. A schema that lacks a member of its type does not compile. */
import { z } from 'zod'

/** A schema for every field. */
export type FieldsOf<T> = { readonly [K in keyof Required<T>]: z.ZodType<T[K] | undefined> }

/** The keys of all members of a union. */
export type KeysOfEach<Union> = Union extends Union ? keyof Union : never

/** A schema for one of these words. Error messages list the words in this order. */
export function oneOf<T extends string>(words: Readonly<Record<T, true>>): z.ZodType<T> {
  return z.enum(Object.keys(words) as [T, ...T[]]) as z.ZodType<T>
}

/** @param error the error text for a value that no member accepts */
export function unionOf(members: readonly z.ZodType[], error?: string): z.ZodType {
  return z.union(members, error === undefined ? {} : { error })
}
