/** Checks a value by a JSON Schema that a task recorded, in any process: the code of the agent is not needed. */
import { z } from 'zod'
import type { Json, JsonObject } from '../../core/values/json.ts'
import { parse } from './parse.ts'

const known = new WeakMap<JsonObject, z.ZodType | undefined>()

/** A schema that uses a feature that cannot be checked here accepts everything. @throws LullError `INVALID_INPUT` */
export function checkBySchema(schema: JsonObject, value: Json, root: string): void {
  const check = readable(schema)
  if (check !== undefined) parse(check, value, root)
}

function readable(schema: JsonObject): z.ZodType | undefined {
  if (known.has(schema)) return known.get(schema)
  let check: z.ZodType | undefined
  try {
    check = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema)
  } catch {
    check = undefined
  }
  known.set(schema, check)
  return check
}
