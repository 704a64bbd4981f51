/** One route of `/ops`. Routing, 405 answers, scope checks and the OpenAPI document are generated from it. */
import type { z } from 'zod'
import type { Scope } from '../../core/scopes.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Engine } from '../../engine/engine.ts'

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

export interface OpsRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{id}` stands for one segment. */
  readonly path: string
  readonly scope: 'ops:read' | 'ops:control'
  /** A caller without `scope` that has this one may call the route for its own tasks. */
  readonly ownerScope?: Scope
  readonly about: string
  /** The query parameters. A parameter that is a list may be given several times. */
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Makes the body of the values of JSON Lines (`application/x-ndjson`), which are read as a stream with limits of their own. */
  readonly fromLines?: (values: readonly unknown[]) => unknown
  readonly answer: z.ZodType
  readonly handle: (engine: Engine, caller: Caller, request: OpsRequest) => Promise<object>
}

/** A route that answers with server-sent events. It is implemented in the server. */
export type OpsStream = Pick<OpsRoute, 'method' | 'path' | 'scope' | 'about'>
