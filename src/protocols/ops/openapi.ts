/** The OpenAPI document of `/ops`, generated from the table of routes. */
import { z } from 'zod'
import type { JsonObject } from '../../core/values/json.ts'
import type { OpsRoute, OpsStream } from './route.ts'

/** Where everybody finds the public keys of receipts. */
export const RECEIPT_KEYS_PATH = '/.well-known/lull-receipt-keys.json'

const receiptKeys = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string(),
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
    }),
  ),
})

export function openApi(routes: readonly OpsRoute[], streams: readonly OpsStream[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  const add = (path: string, method: string, operation: JsonObject): void => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const route of routes) add(route.path, route.method, operationOf(route))
  for (const { path, method, about } of streams) {
    const events = { 'text/event-stream': { schema: { type: 'string' } } }
    add(path, method, {
      summary: about,
      parameters: pathParameters(path),
      responses: { 200: { description: about, content: events }, ...refusals },
    })
  }
  const about =
    'The public keys that verify receipts, former ones included; no credential is needed'
  const keys = operationOf({ path: RECEIPT_KEYS_PATH, about, answer: receiptKeys })
  add(RECEIPT_KEYS_PATH, 'GET', { ...keys, security: [] })
  return {
    openapi: '3.1.0',
    info: { title: 'Lull operations', version: '1' },
    paths,
  }
}

const refusals: JsonObject = {
  default: {
    description: 'A refusal',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: {
            error: {
              type: 'object',
              properties: { code: { type: 'string' }, message: { type: 'string' } },
            },
          },
        },
      },
    },
  },
}

function operationOf({
  path,
  about,
  query,
  body,
  answer,
}: Pick<OpsRoute, 'path' | 'about' | 'query' | 'body' | 'answer'>): JsonObject {
  const content = { 'application/json': { schema: schemaOf(answer) } }
  return {
    summary: about,
    parameters: [...pathParameters(path), ...queryParameters(query)],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(body) } },
          },
        }),
    responses: { 200: { description: about, content }, ...refusals },
  }
}

function pathParameters(path: string): JsonObject[] {
  if (!path.includes('{id}')) return []
  return [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
}

function queryParameters(query: z.ZodObject | undefined): JsonObject[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema as z.ZodType),
  }))
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest as JsonObject
}
