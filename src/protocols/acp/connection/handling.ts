/**
 * What both versions of the protocol do with a request: parse its parameters, call the method, and convert errors to ACP.
 */
import type { z } from 'zod'
import { parse } from '../../../engine/input/parse.ts'
import { type Extension, inbound } from '../names.ts'
import { cancelSession } from '../prompts/open-prompts.ts'
import { extension } from '../suspend/control-methods.ts'
import type { Connection } from './connection.ts'
import { toRequestError } from './faults.ts'

/** @param signal aborts when the request is cancelled or the connection is lost */
export type Method<P, R> = (connection: Connection, params: P, signal: AbortSignal) => Promise<R>

export interface Handled<P> {
  readonly params: P
  readonly signal: AbortSignal
}

export interface Handling {
  /**
   * @param name the name of the method in the protocol, for trace spans
   * @param schema for parameters that the SDK has not parsed
   */
  handle<P, R>(
    name: string,
    method: Method<P, R>,
    schema?: z.ZodType,
  ): (handled: Handled<P>) => Promise<R>
  /** Handles `session/cancel`. */
  cancel(notification: { readonly params: { readonly sessionId: string } }): Promise<void>
  /** The methods of the extension under all their names. A client that calls one knows the extension. */
  readonly extensions: readonly (readonly [
    name: string,
    handler: (request: Handled<unknown>) => Promise<unknown>,
  ])[]
}

export function handling(connection: Connection): Handling {
  const { acp, caller } = connection
  const report = (error: unknown): void => acp.log('error', 'an ACP request failed', { error })

  const handle: Handling['handle'] =
    (name, method, schema) =>
    async ({ params, signal }) => {
      try {
        const parsed = schema === undefined ? params : parse(schema, params)
        const call = () => method(connection, parsed as typeof params, signal)
        return await acp.traces.during(name, params, call)
      } catch (error) {
        throw toRequestError(error, report)
      }
    }

  return {
    handle,
    cancel: ({ params: { sessionId } }) => cancelSession(acp, caller, sessionId).catch(report),
    extensions: (Object.keys(extension) as Extension[]).flatMap((method) =>
      inbound[method].map((name) => {
        const handler = handle(name, extension[method])
        const withNotice = (request: Handled<unknown>): Promise<unknown> => {
          connection.peer().markExtensionKnown()
          return handler(request)
        }
        return [name, withNotice] as const
      }),
    ),
  }
}
