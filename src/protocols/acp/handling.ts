/** What every request goes through: parse and act happen in one place, and what goes wrong leaves as ACP spells it. */
import type { Connection } from './connection.ts'
import { toRequestError } from './faults.ts'

/** @param signal fires when the request is given up or the connection is lost */
export type Method<P, R> = (connection: Connection, params: P, signal: AbortSignal) => Promise<R>

export interface Handled<P> {
  readonly params: P
  readonly signal: AbortSignal
}

export interface Handling {
  handle<P, R>(method: Method<P, R>): (handled: Handled<P>) => Promise<R>
  /** For what has nobody to answer. */
  report(error: unknown): void
}

export function handling(connection: Connection): Handling {
  const report = (error: unknown): void =>
    connection.acp.log('error', 'an ACP request failed', { error })
  return {
    report,
    handle:
      (method) =>
      async ({ params, signal }) => {
        try {
          return await method(connection, params, signal)
        } catch (error) {
          throw toRequestError(error, report)
        }
      },
  }
}
