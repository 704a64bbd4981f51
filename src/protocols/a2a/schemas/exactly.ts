/** A schema and the type of what we write must say the same, both ways: a field that only one of them knows does not compile. */
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
) => z.ZodType<T> {
  return (schema) => schema as unknown as z.ZodType<T>
}
