/** Parses the parameters of a request, calls the method, and converts errors to ACP. */
import type { z } from 'zod'
import { parse } from '../../../engine/input/parse.ts'
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
  /** Logs an error for which there is no answer. */
  report(error: unknown): void
}

export function handling(connection: Connection): Handling {
  const report = (error: unknown): void =>
    connection.acp.log('error', 'an ACP request failed', { error })
  return {
    report,
    handle:
      (name, method, schema) =>
      async ({ params, signal }) => {
        try {
          const parsed = schema === undefined ? params : parse(schema, params)
          const call = () => method(connection, parsed as typeof params, signal)
          return await connection.acp.traces.during(name, params, call)
        } catch (error) {
          throw toRequestError(error, report)
        }
      },
  }
}
