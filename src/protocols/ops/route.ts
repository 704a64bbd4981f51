/** One route of `/ops`. Routing, 405 answers, scope checks and the OpenAPI document are generated from it. */
import type { z } from 'zod'
import type { Scope } from '../../core/scopes.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Checked, check } from '../../engine/input/parse.ts'
import { readQuery } from './read-query.ts'

export interface OpsRequest {
  /** The value of `{id}` in the path; empty when the path has none. */
  readonly id: string
  readonly query: URLSearchParams
  /** The JSON body; undefined when there is none. */
  readonly body: unknown
  /** Whether the caller may act in every tenant. */
  readonly anyTenant: boolean
  /** Wall clock, epoch milliseconds. */
  readonly now: number
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{id}` stands for one segment. */
  readonly path: string
  readonly scope: 'ops:read' | 'ops:control'
  /** A caller without `scope` that has this one may call the route for its own tasks. */
  readonly ownerScope?: Scope
  readonly about: string
  /** Makes the body of the values of JSON Lines (`application/x-ndjson`), which are read as a stream with limits of their own. */
  readonly fromLines?: (values: readonly unknown[]) => unknown
  readonly answer: z.ZodType
}

type Handler<R> = (engine: Engine, caller: Caller, request: R) => Promise<object>

export interface OpsRoute extends RouteFacts {
  /** The query parameters. A parameter that is a list may be given several times. */
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly handle: Handler<OpsRequest>
}

/** A route whose handler gets the query as the schema that it publishes reads it. */
export function routeWithQuery<S extends z.ZodObject>(
  route: RouteFacts & {
    readonly query: S
    readonly handle: Handler<Omit<OpsRequest, 'query'> & { readonly query: z.output<S> }>
  },
): OpsRoute {
  const { query: schema, handle } = route
  return {
    ...route,
    handle: async (engine, caller, { query, ...request }) =>
      handle(engine, caller, { ...request, query: readQuery(schema, query) }),
  }
}

/** A route whose handler gets the body as the schema that it publishes reads it. */
export function routeWithBody<T extends object>(
  route: RouteFacts & {
    readonly query?: z.ZodObject
    readonly body: z.ZodType<T>
    readonly handle: Handler<Omit<OpsRequest, 'body'> & { readonly body: Checked<T> }>
  },
): OpsRoute {
  const { body: schema, handle } = route
  return {
    ...route,
    handle: async (engine, caller, { body, ...request }) =>
      handle(engine, caller, { ...request, body: check(schema, body) }),
  }
}

/** A route that answers with server-sent events. It is implemented in the server. */
export type OpsStream = Pick<OpsRoute, 'method' | 'path' | 'scope' | 'about'>
