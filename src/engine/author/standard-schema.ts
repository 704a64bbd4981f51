/** Schemas of any library that has the Standard Schema interface, such as zod, valibot and arktype. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { isPlainObject, type JsonObject } from '../../core/values/json.ts'

export type { StandardSchemaV1 } from '@standard-schema/spec'

/** The type that a schema returns for valid input. */
export type OutputOf<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>

export type Validation<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly problem: string; readonly path: string }

/** @param root the path of the value, used in problem texts */
export function validate<S extends StandardSchemaV1>(
  schema: S,
  value: unknown,
  root: string,
): Validation<OutputOf<S>> | Promise<Validation<OutputOf<S>>> {
  const result = schema['~standard'].validate(value)
  const read = (done: StandardSchemaV1.Result<unknown>): Validation<OutputOf<S>> =>
    done.issues === undefined ? { value: done.value as OutputOf<S> } : problemIn(done.issues, root)
  return result instanceof Promise ? result.then(read) : read(result)
}

function problemIn(
  [issue]: readonly StandardSchemaV1.Issue[],
  root: string,
): { readonly problem: string; readonly path: string } {
  const keys = (issue?.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key))
  const path = [root, ...keys].filter((key) => key !== '').join('.')
  return { path, problem: issue?.message ?? 'is not valid' }
}

/** The JSON Schema of valid input. Undefined if the library does not provide it. */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonObject | undefined {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema['~standard']
  try {
    const { $schema: _, ...shape } = standard.jsonSchema?.input({ target: 'draft-2020-12' }) ?? {}
    return Object.keys(shape).length === 0 ? undefined : (shape as JsonObject)
  } catch {
    // The library cannot express the schema as JSON Schema, for example because of a
    // transformation.
    return undefined
  }
}

export function isSchema(value: unknown): value is StandardSchemaV1 {
  const holder = typeof value === 'function' || typeof value === 'object' ? value : undefined
  const standard: unknown =
    holder === null || holder === undefined ? undefined : Reflect.get(holder, '~standard')
  return isPlainObject(standard) && typeof Reflect.get(standard, 'validate') === 'function'
}
