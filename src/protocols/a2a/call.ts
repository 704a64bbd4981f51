/** One call, independent of its binding, and the type of a method that answers it. */

import type { Scope } from '../../core/scopes.ts'
import { type Act, ALL_TENANTS, type Caller, reachBy, reachScopes } from '../../engine/caller.ts'
import type { EngineDeps } from '../../engine/deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FrameSource, Heartbeat } from '../../http/event-stream.ts'
import type { HttpRequest } from '../../http/http.ts'
import type { Params } from './addresses/params.ts'
import type { ServedAgent } from './cards/served-agents.ts'
import type { Codec } from './codec/codec.ts'
import { A2AError, type FaultOverrides } from './errors/faults.ts'
import type { Pushes } from './push/pushes.ts'
import type { Closing } from './streams/closing.ts'
import type { FanOut, TaskTexts } from './streams/fan-out.ts'

export type { Scope }

/** The dependencies of every method. */
export interface A2AContext {
  readonly engine: Engine
  readonly clock: EngineDeps['clock']
  readonly ids: EngineDeps['ids']
  readonly log: EngineDeps['log']
  readonly heartbeat: Heartbeat
  /** Absent: this server sends no push notifications. */
  readonly pushes: Pushes | undefined
  readonly closing: Closing
  /** The states in which the Bindu dialect accepts a pause, in its own names. */
  readonly binduPausable: readonly string[]
  /** Whether operations in the metadata of a send (`metadata.harn`) are executed. */
  readonly harnTunnel: boolean
  readonly fanOut: FanOut
  readonly texts: TaskTexts
}

export interface Call {
  readonly codec: Codec
  readonly caller: Caller
  readonly may: (scope: Scope) => boolean
  readonly agent: ServedAgent
  readonly params: Params
  /** The extensions that the request activated. */
  readonly active: ReadonlySet<string>
  /**
   * The HTTP request, for methods that need a header, or need to know when the client disconnects.
   */
  readonly request: Pick<HttpRequest, 'header' | 'onGone'>
  /** Wraps a result in the envelope of the binding. */
  readonly envelope: (result: string) => string
}

export type Answer =
  | { readonly value: unknown; readonly frames?: undefined }
  /** A result that is already serialised as JSON. */
  | { readonly text: string; readonly frames?: undefined }
  /** A stream. If it is a string, it contains all frames. */
  | { readonly frames: FrameSource | string }

export interface Method {
  readonly scope: Scope
  /** The kind of act on tasks. The scope that allows it to tasks of others also allows the call. */
  readonly act?: Act
  /**
   * Parses the parameters, makes one engine call, and renders the result. It makes no decisions.
   */
  readonly run: (a2a: A2AContext, call: Call) => Promise<Answer>
  /** The faults that differ from `faultOf` for this method. */
  readonly faults?: FaultOverrides
  /** The extension that the method belongs to. Calling the method activates it. */
  readonly extension?: string
  /** Whether the method answers with a stream. */
  readonly streams?: boolean
}

/** The caller of a request, as authenticated by the server that mounts the adapter. */
export interface A2AEnv {
  readonly caller: Caller
  /** Whether the caller has the scope. */
  readonly may: (scope: Scope) => boolean
  /** Whether the caller may act in any tenant that a request names. Default: only in its own. */
  readonly anyTenant?: boolean | undefined
}

/** The environment of a `fetch` request. */
export interface A2AFetchEnv extends A2AEnv {
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined
}

/** Allows everything that a caller may do with its own tasks. */
export const ownTaskScopes = (scope: Scope): boolean => !scope.endsWith(':all')

/** The caller of a method. A caller that was made without a reach has the one that its scopes give. */
export function callerFor(env: A2AEnv, tenant: unknown): Caller {
  const caller = callerIn(env, tenant)
  return caller.reach === undefined ? { ...caller, reach: reachBy(env.may) } : caller
}

/** @throws A2AError when the caller may call the method neither for its own tasks nor for those of others */
export function checkScope({ scope, act }: Pick<Method, 'scope' | 'act'>, may: Call['may']): void {
  if (may(scope) || (act !== undefined && may(reachScopes[act]))) return
  throw new A2AError('FORBIDDEN', `This needs the scope ${scope}`, { scope })
}

/**
 * The caller, in the tenant that the request names. A tenant selects data and grants no access (A2A 1.0 §13.1).
 * @throws A2AError when the caller may not act in that tenant
 */
function callerIn({ caller, anyTenant = false }: A2AEnv, tenant: unknown): Caller {
  if (tenant === ALL_TENANTS) throw unknownTenant()
  if (tenant === undefined || tenant === null || tenant === '' || tenant === caller.tenant) {
    return caller
  }
  if (typeof tenant !== 'string' || tenant.length > 256) {
    throw new A2AError('INVALID_PARAMS', 'tenant must be a string', {
      path: 'tenant',
      problem: 'must be a string of at most 256 characters',
    })
  }
  if (anyTenant) return { ...caller, tenant }
  throw unknownTenant()
}

function unknownTenant(): A2AError {
  return new A2AError('INVALID_PARAMS', 'tenant: is unknown', {
    path: 'tenant',
    problem: 'is unknown',
  })
}
