/**
 * Version negotiation by A2A 1.0 §3.6: a header or a query parameter with `Major.Minor`. If absent,
 * the version is 0.3.
 */
import type { HttpRequest } from '../../../http/http.ts'

export type Version = '1.0' | '0.3'

const NAME = 'a2a-version'

/**
 * The version that the request names. Undefined if it names none, `unknown` if Lull does not
 * support it.
 */
export function askedVersion(
  request: Pick<HttpRequest, 'header'>,
  query: URLSearchParams | undefined,
): Version | undefined | 'unknown' {
  const given = request.header(NAME) ?? query?.get('A2A-Version') ?? query?.get(NAME) ?? ''
  // The usual form, checked without the regular expression.
  if (given === '1.0') return given
  const asked = given.trim()
  if (asked === '') return undefined
  // Patch numbers are ignored: 1.0.1 is 1.0.
  const found = /^(\d+\.\d+)(?:\.\d+)*$/.exec(asked)?.[1]
  return found === '1.0' || found === '0.3' ? found : 'unknown'
}
