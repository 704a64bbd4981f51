/** The part that both bindings share: calls the method and converts its errors. */
import type { HttpHeaders } from '../../../http/http.ts'
import type { A2AContext, Answer, Call, Method } from '../call.ts'
import { type Failure, failureOf } from '../errors/failure.ts'
import { A2AError } from '../errors/faults.ts'
import { noHeaders } from './answers.ts'

/** @throws A2AError when the caller lacks the scope */
export function dispatch(a2a: A2AContext, method: Method, call: Call): Promise<Answer> {
  const { scope } = method
  // Methods for workers check their scope themselves, because for other callers they must look like
  // unknown methods.
  if (scope !== 'tasks:work' && !call.may(scope)) {
    throw new A2AError('FORBIDDEN', `This needs the scope ${scope}`, { scope })
  }
  return method.run(a2a, call)
}

/** Converts an error of the method or of the binding to a failure. Unexpected errors are logged. */
export function failureIn(
  { log }: A2AContext,
  method: Method | undefined,
  error: unknown,
): Failure {
  const failure = failureOf(error, method?.faults)
  if (failure.fault === 'INTERNAL') log('error', 'An A2A call failed', { error })
  return failure
}

/** The response headers that name the active extensions, as each version spells them. */
export function extensionHeaders(
  call: Pick<Call, 'active' | 'codec'>,
  method: Method,
): HttpHeaders {
  const { active, codec } = call
  if (active.size === 0 && method.extension === undefined) return noHeaders
  const uris = new Set(active)
  if (method.extension !== undefined) uris.add(method.extension)
  const name = codec.version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'
  return { [name]: [...uris].join(',') }
}
