/**
 * The OpenAPI document of `/ops`, generated from the table of routes. Generators of types read it, so every reference
 * resolves within the document, and every operation has an id (openapi.test.ts).
 */
import { z } from 'zod'
import type { JsonObject } from '../../core/values/json.ts'
import { type OpsRoute, type OpsStream, tenant } from './route.ts'

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
  const schemas: Record<string, JsonObject> = {}
  const add = (path: string, method: string, operation: JsonObject): void => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const route of routes) add(route.path, route.method, operationOf(route, schemas))
  for (const stream of streams) add(stream.path, stream.method, streamOf(stream, schemas))
  const about =
    'The public keys that verify receipts, former ones included; no credential is needed'
  const keys = { name: 'receiptKeys', path: RECEIPT_KEYS_PATH, about, answer: receiptKeys }
  const { parameters: _, ...open } = operationOf(keys, schemas)
  add(RECEIPT_KEYS_PATH, 'GET', { ...open, security: [] })
  return {
    openapi: '3.1.0',
    info: { title: 'Lull operations', version: '1' },
    // Relative to the address of this document.
    servers: [{ url: '/' }],
    paths,
    components: { schemas },
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
              properties: {
                code: { type: 'string' },
                message: { type: 'string' },
                path: { type: 'string' },
              },
              required: ['code', 'message'],
            },
          },
          required: ['error'],
        },
      },
    },
  },
}

type Operation = Pick<OpsRoute, 'path' | 'about' | 'query' | 'body' | 'bodyMayBeAbsent' | 'answer'>
type Schemas = Record<string, JsonObject>

function operationOf(route: Operation & { readonly name: string }, schemas: Schemas): JsonObject {
  const { name, path, about, query, body, bodyMayBeAbsent, answer } = route
  const json = (schema: z.ZodType, of: string): JsonObject => ({
    'application/json': { schema: schemaOf(schema, name + of, schemas) },
  })
  const required = bodyMayBeAbsent !== true
  return {
    operationId: name,
    summary: about,
    parameters: [...pathParameters(path), ...queryParameters(query, name, schemas)],
    ...(body === undefined ? {} : { requestBody: { required, content: json(body, 'Body') } }),
    responses: { 200: { description: about, content: json(answer, 'Answer') }, ...refusals },
  }
}

/** The schema of a stream describes the list of its events, as from OpenAPI 3.2 on. The data of each is JSON. */
function streamOf(
  { name, path, about, query, event, page }: OpsStream,
  schemas: Schemas,
): JsonObject {
  const data = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: schemaOf(event, `${name}Event`, schemas),
  }
  const items = {
    type: 'object',
    properties: { id: { type: 'string' }, data },
    required: ['id', 'data'],
  }
  const content = {
    'text/event-stream': { schema: { type: 'array', items } },
    ...(page && { 'application/json': { schema: schemaOf(page, `${name}Page`, schemas) } }),
  }
  return {
    operationId: name,
    summary: about,
    parameters: [...pathParameters(path), ...queryParameters(query, name, schemas)],
    responses: { 200: { description: about, content }, ...refusals },
  }
}

function pathParameters(path: string): JsonObject[] {
  if (!path.includes('{id}')) return []
  return [{ name: 'id', in: 'path', required: true, schema: { type: 'string', minLength: 1 } }]
}

function queryParameters(
  query: z.ZodObject | undefined,
  name: string,
  schemas: Schemas,
): JsonObject[] {
  // The server reads the tenant from every request, before the route.
  return Object.entries({ tenant, ...query?.shape }).map(([parameter, schema]) => ({
    name: parameter,
    in: 'query',
    required: false,
    schema: schemaOf(schema as z.ZodType, `${name}Query`, schemas),
  }))
}

/** Schemas that refer to themselves are named in `schemas`, because a reference is relative to the whole document. */
function schemaOf(schema: z.ZodType, name: string, schemas: Schemas): JsonObject {
  const { $schema: _, ...given } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const text = JSON.stringify(given).replaceAll(
    '"#/$defs/__schema',
    `"#/components/schemas/${name}`,
  )
  const { $defs: named = {}, ...rest } = JSON.parse(text) as { $defs?: Record<string, JsonObject> }
  for (const [key, one] of Object.entries(named)) schemas[key.replace('__schema', name)] = one
  return rest as JsonObject
}
