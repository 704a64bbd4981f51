/**
 * The schemas of the requests of version 1. They are parsed here and not by the SDK, so that an
 * error names the path of the invalid member. Unknown members are ignored.
 */
import { z } from 'zod'

const sessionId = z.string().max(256)
const meta = z.record(z.string(), z.unknown()).nullish()
const cwd = z.string().min(1)
const mcpServers = z.array(z.looseObject({ name: z.string() }))

export const newRequest: z.ZodType = z.looseObject({ cwd, mcpServers, _meta: meta })
export const loadRequest: z.ZodType = z.looseObject({ sessionId, cwd, mcpServers, _meta: meta })
export const listRequest: z.ZodType = z.looseObject({
  cwd: cwd.nullish(),
  cursor: z.string().nullish(),
})
export const sessionRequest: z.ZodType = z.looseObject({ sessionId })
export const promptRequest: z.ZodType = z.looseObject({
  sessionId,
  prompt: z.array(z.unknown()),
  _meta: meta,
})
export const configRequest: z.ZodType = z.looseObject({
  sessionId,
  configId: z.string(),
  value: z.union([z.string(), z.boolean()]),
})
