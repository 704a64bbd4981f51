/** A schema and the type of what is written must have the same members. A member that only one of them has does not compile. */
import type { z } from 'zod'

type Frozen<T> = T extends readonly (infer U)[]
  ? readonly Frozen<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T

/** Identical, not only assignable: an optional field that one of them lacks would go unnoticed. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? unknown : never

export function exactly<T>(): <S extends z.ZodType>(
  schema: S & Same<Frozen<z.output<S>>, Frozen<T>>,
) => S {
  return (schema) => schema
}
