/** Version negotiation, A2A 1.0 §3.6: a header or a query parameter, `Major.Minor`, and nothing means 0.3. */
export type Version = '1.0' | '0.3'

const NAME = 'a2a-version'

/** What the request asks for: undefined when it says nothing, `unknown` when we do not speak it. */
export function askedVersion(
  headers: Headers,
  query: URLSearchParams | undefined,
): Version | undefined | 'unknown' {
  const given = headers.get(NAME) ?? query?.get('A2A-Version') ?? query?.get(NAME) ?? ''
  const asked = given.trim()
  if (asked === '') return undefined
  // Patch digits do not matter: 1.0.1 is 1.0.
  const found = /^(\d+\.\d+)(?:\.\d+)*$/.exec(asked)?.[1]
  return found === '1.0' || found === '0.3' ? found : 'unknown'
}
