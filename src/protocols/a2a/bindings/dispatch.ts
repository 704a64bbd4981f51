/** What both bindings do once they know the method: check the scope, run it, tell what went wrong. */
import type { HttpHeaders } from '../../../wire/http.ts'
import type { A2AContext, Answer, Call, Method } from '../call.ts'
import { type Failure, failureOf } from '../failure.ts'
import { A2AError } from '../faults.ts'
import { noHeaders } from './answers.ts'

export type Dispatched =
  | { readonly answer: Answer; readonly failure?: undefined }
  | { readonly failure: Failure; readonly control: boolean }

export async function dispatch(a2a: A2AContext, method: Method, call: Call): Promise<Dispatched> {
  try {
    // Workers' methods answer for themselves: to others they do not exist.
    if (method.scope !== 'tasks:work' && !call.may(method.scope)) {
      throw new A2AError('FORBIDDEN', `This needs the scope ${method.scope}`, {
        scope: method.scope,
      })
    }
    return { answer: await method.run(a2a, call) }
  } catch (error) {
    const failure = failureOf(error, method.faults)
    if (failure.fault === 'INTERNAL') a2a.log('error', 'An A2A call failed', { error })
    return { failure, control: method.extension !== undefined }
  }
}

/** Echoes what is active, under the name the version has for it. */
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
