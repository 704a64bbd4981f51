/** One route of `/ops`. Routing, 405 answers, scope checks and the OpenAPI document are generated from it. */

import { z } from 'zod'
import { LullError } from '../../core/errors.ts'
import type { Scope } from '../../core/scopes.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Checked, check, parse } from '../../engine/input/parse.ts'
import { id } from '../../engine/input/primitives.ts'
import {
  type OpsAddress,
  type OpsAnswers,
  type OpsRouteName,
  opsAddresses,
  type opsStreamAddresses,
} from '../../wire/ops/routes.ts'

export interface OpsRequest {
  /** The value of `{id}` in the path; empty when the path has none. */
  readonly id: string
  readonly query: URLSearchParams
  /** The JSON body; undefined when there is none. */
  readonly body: unknown
  /** Whether the caller may act in every tenant. */
  readonly anyTenant: boolean
  /** What its credential allows. */
  readonly scopes: ReadonlySet<Scope>
  /** Where a trace is shown; `{traceId}` stands for its id. Absent: the server does not know. */
  readonly traceUrl?: string | undefined
  /** Wall clock, epoch milliseconds. */
  readonly now: number
}

/** Callers with it act as operators. */
export type OperatorScope = 'ops:read' | 'ops:control'

export function isOperatorScope(scope: OpsRoute['scope']): scope is OperatorScope {
  return scope !== 'tasks:answer:all'
}

interface RouteFacts {
  readonly scope: OperatorScope | 'tasks:answer:all'
  /** A caller without `scope` that has one of these may call the route for the tasks in its reach. */
  readonly ownScopes?: readonly Scope[]
  readonly about: string
  /** Makes the body of the values of JSON Lines (`application/x-ndjson`), which are read as a stream with limits of their own. */
  readonly fromLines?: (values: readonly unknown[]) => unknown
}

export interface OpsRoute extends RouteFacts {
  readonly name: OpsRouteName
  readonly method: OpsAddress[0]
  /** `{id}` stands for one segment. */
  readonly path: string
  /** The query parameters. A parameter that is a list may be given several times. */
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly bodyMayBeAbsent?: boolean
  readonly answer: z.ZodType
  readonly handle: (engine: Engine, caller: Caller, request: OpsRequest) => Promise<object>
}

/** An answer as the server may make it: an object of any type where the client reads members of any name. */
type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? string extends keyof T
      ? object
      : { readonly [K in keyof T]: Sent<T[K]> }
    : T

interface ReadFor<Q extends z.ZodObject, B extends object>
  extends Omit<OpsRequest, 'query' | 'body'> {
  readonly query: z.output<Q>
  readonly body: Checked<B>
}

/** A route whose handler gets query and body as the schemas read them that it publishes. */
export function route<
  R extends OpsRouteName,
  Q extends z.ZodObject = z.ZodObject,
  B extends object = never,
>(
  name: R,
  facts: RouteFacts & {
    readonly query?: Q
    readonly body?: z.ZodType<B>
    /** Stands for a body that is absent. */
    readonly absentBody?: B
    readonly answer: z.ZodType<OpsAnswers[R]>
    readonly handle: (
      engine: Engine,
      caller: Caller,
      request: ReadFor<Q, B>,
    ) => Promise<Sent<OpsAnswers[R]>>
  },
): OpsRoute {
  const [method, path] = opsAddresses[name]
  const { query: querySchema, body: bodySchema, absentBody, handle, ...rest } = facts
  return {
    ...rest,
    ...{ name, method, path },
    ...(querySchema && { query: querySchema }),
    ...(bodySchema && { body: bodySchema, bodyMayBeAbsent: absentBody !== undefined }),
    handle: async (engine, caller, { query, body, ...request }) => {
      const read = {
        ...request,
        ...(querySchema && { query: readQuery(querySchema, query) }),
        ...(bodySchema && { body: check(bodySchema, body ?? absentBody) }),
      }
      // A handler without a schema for the query or the body has no type that would let it read one.
      return handle(engine, caller, read as ReadFor<Q, B>)
    },
  }
}

/** A route that reads tasks: for operators, and for everybody who may read the tasks. */
export const readsTasks = { scope: 'ops:read', ownScopes: ['tasks:read'] } as const

/** The scope and the body of a verb whose request is the body. */
export function fromVerb<T extends object>(verb: {
  readonly scope: OperatorScope
  readonly input: z.ZodType<T>
}): { readonly scope: OperatorScope; readonly body: z.ZodType<T> } {
  return { scope: verb.scope, body: verb.input }
}

/** A route that answers with server-sent events. It is implemented in the server. */
export interface OpsStream
  extends Pick<OpsRoute, 'method' | 'path' | 'scope' | 'ownScopes' | 'about' | 'query'> {
  readonly name: keyof typeof opsStreamAddresses
  /** The JSON in each event. */
  readonly event: z.ZodType
  /** The answer to a client that does not accept events. */
  readonly page?: z.ZodType
}

/** Reads query parameters with a schema. A parameter is a list when its schema is an array. @throws LullError `INVALID_INPUT` that names the parameter */
function readQuery<T extends z.ZodObject>(schema: T, query: URLSearchParams): z.output<T> {
  // Without a prototype, `__proto__` is a name like every other.
  const given: Record<string, unknown> = Object.create(null)
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    const item = itemOf(schema, name)
    // The error names the parameter, without the place in a list that a query does not have.
    if (item !== undefined) for (const value of values) parse(item, value, name)
    if (item !== undefined) given[name] = values
    else if (values.length === 1) given[name] = values[0]
    else throw new LullError('INVALID_INPUT', { path: name, problem: 'is given twice' })
  }
  return parse(schema, given)
}

/** The schema of an item, if the parameter is a list. */
function itemOf({ shape }: z.ZodObject, name: string): z.ZodType | undefined {
  const member = Object.hasOwn(shape, name) ? shape[name] : undefined
  const type = member instanceof z.ZodOptional ? member.unwrap() : member
  const item = type instanceof z.ZodArray ? type.element : undefined
  return item instanceof z.ZodType ? item : undefined
}

/** A whole number in decimal digits. */
export const count: z.ZodType<number | undefined> = z
  .string()
  .regex(/^\d{1,6}$/, 'must be a whole number')
  .transform(Number)
  .optional()

/** How many tasks a page has. */
export const pageSize: z.ZodType<number | undefined> = z
  .string()
  .regex(/^(?:[1-9]\d?|100)$/, 'must be a whole number from 1 to 100')
  .transform(Number)
  .optional()

/** An id or a name in a query. */
export const name: z.ZodType<string | undefined> = id.optional()

/** The tenant in which an operator of several tenants acts, or `*` for all of them. */
export const tenant: z.ZodType<string | undefined> = id.optional()

/** A position in a list of tasks, as the page before has it. */
export const taskCursor: z.ZodType<string | undefined> = z
  .string()
  .regex(/^(?:\d{1,6}|[\d.e+]{1,32}~.{1,4000})$/s, 'is not one of ours')
  .optional()

/** `true` or `false`. */
export const flag: z.ZodType<boolean | undefined> = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()
