/** Reads and writes trace context in `_meta`, where ACP reserves `traceparent` at the root. */
import { describeError } from '../../../core/values/describe-error.ts'
import { fromTraceparent, toTraceparent } from '../../../core/values/span-link.ts'
import type { EngineDeps } from '../../../engine/deps.ts'

export interface Traces {
  /**
   * Calls a method in a span that continues the trace in its parameters.
   * @param method the name of the method in the protocol
   */
  during<T>(method: string, params: unknown, call: () => Promise<T>): Promise<T>
  /** Adds the current span to parameters that are sent to the client. */
  add<P extends object>(params: P): P
}

export function createTraces(tracing: EngineDeps['tracing']): Traces {
  return {
    async during(method, params, call) {
      const span = tracing?.start(`acp ${method}`, {
        kind: 'server',
        parent: fromTraceparent(metaOf(params)?.['traceparent']) ?? tracing.current(),
        attributes: { 'rpc.system': 'acp', 'rpc.method': method },
      })
      if (span === undefined) return call()
      try {
        return await span.during(call)
      } catch (error) {
        span.fail(describeError(error).name)
        throw error
      } finally {
        span.end()
      }
    },
    add(params) {
      const current = tracing?.current()
      if (current === undefined) return params
      return { ...params, _meta: { ...metaOf(params), traceparent: toTraceparent(current) } }
    },
  }
}

function metaOf(params: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof params !== 'object' || params === null || !('_meta' in params)) return undefined
  const { _meta: meta } = params
  return typeof meta === 'object' && meta !== null ? { ...meta } : undefined
}
