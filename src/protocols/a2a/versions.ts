/** Version negotiation, A2A 1.0 §3.6: a header or a query parameter, `Major.Minor`, and nothing means 0.3. */
import type { HttpRequest } from '../../wire/http.ts'

export type Version = '1.0' | '0.3'

const NAME = 'a2a-version'

/** What the request asks for: undefined when it says nothing, `unknown` when we do not speak it. */
export function askedVersion(
  request: HttpRequest,
  query: URLSearchParams | undefined,
): Version | undefined | 'unknown' {
  const given = request.header(NAME) ?? query?.get('A2A-Version') ?? query?.get(NAME) ?? ''
  // As nearly everybody writes it.
  if (given === '1.0') return given
  const asked = given.trim()
  if (asked === '') return undefined
  // Patch digits do not matter: 1.0.1 is 1.0.
  const found = /^(\d+\.\d+)(?:\.\d+)*$/.exec(asked)?.[1]
  return found === '1.0' || found === '0.3' ? found : 'unknown'
}
