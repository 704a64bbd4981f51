/**
 * Judges recorded ACP traffic by the JSON schema the official SDK ships, which nobody here wrote:
 *
 * 1. Every request, notification, result and error fits the definition of its method.
 * 2. What the agent sends has no field at the root of a type that the type does not have: `_meta` is the place for those.
 * 3. A method that is not in the schema starts with an underscore. Clients may use the names of the RFC, the agent may not.
 * 4. Every answer answers a request, once.
 *
 * A client that declares the RFC to the letter resumes in its shape, and gets three things the protocol does not have.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export type Side = 'client' | 'agent'

export interface Line {
  readonly from: Side
  readonly line: string
}

type Schema = { readonly [key: string]: unknown }
type Kind = 'Request' | 'Response' | 'Notification'

/** One version of the protocol. */
interface Book {
  /** The name of the definition for what that side is asked, answers, or is told. */
  definitionOf(method: string, side: Side, kind: Kind): string | undefined
  /** What is wrong with the value; nothing when it fits. */
  fits(from: Side, definition: string, value: unknown): readonly string[]
}

/** Capabilities the RFC puts at the root of `agentCapabilities`; everything else of ours is in `_meta`. */
const fromTheRfc = ['supportsSuspend', 'supportsAwaitResumption', 'resumeCauses']

const books = new Map<number, Book>()

function bookOf(version: number): Book {
  const book = books.get(version) ?? createBook(version)
  books.set(version, book)
  return book
}

function createBook(version: number): Book {
  const { resolve } = createRequire(import.meta.url)
  const path = resolve(`@agentclientprotocol/sdk/schema/v${version}/schema.json`)
  const schema = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly $defs: Readonly<Record<string, Schema>>
  }
  const options = { strict: false, validateFormats: false }
  const open = new Ajv2020(options).addSchema(schema, 'acp')
  const closed = new Ajv2020(options).addSchema(withRfcCapabilities(close(schema)) as Schema, 'acp')
  const compiled = new Map<string, ValidateFunction>()

  return {
    definitionOf(method, side, kind) {
      const found = Object.entries(schema.$defs).find(
        ([name, def]) =>
          def['x-method'] === method &&
          (def['x-side'] === side || def['x-side'] === 'protocol') &&
          name.endsWith(kind),
      )
      return found?.[0]
    },
    fits(from, definition, value) {
      const ajv = from === 'agent' ? closed : open
      const key = `${from}/${definition}`
      const validate =
        compiled.get(key) ??
        ajv.compile({
          $ref: `acp#/$defs/${definition}`,
          ...(from === 'agent' && { unevaluatedProperties: false }),
        })
      compiled.set(key, validate)
      if (validate(value)) return []
      return [`${definition}: ${ajv.errorsText(validate.errors, { dataVar: '' }).slice(0, 600)}`]
    },
  }
}

interface Pending {
  readonly method: string
  isAnswered: boolean
}

/** One line for everything that is wrong with one connection's traffic; empty when all is well. */
export function problemsIn(lines: readonly Line[]): readonly string[] {
  const asked = { client: new Map<unknown, Pending>(), agent: new Map<unknown, Pending>() }
  const { definitionOf, fits } = bookOf(versionIn(lines))
  const toTheLetter = lines.some(({ from, line }) => from === 'client' && declaresRfc(line))
  return lines.flatMap(({ from, line }) =>
    problemsOf(from, line).map((problem) => `${from}: ${problem}\n  in ${line.slice(0, 2_000)}`),
  )

  function problemsOf(from: Side, line: string): readonly string[] {
    const other = from === 'client' ? 'agent' : 'client'
    let message: Record<string, unknown>
    try {
      message = JSON.parse(line) as Record<string, unknown>
    } catch {
      return ['not JSON']
    }
    if (message['jsonrpc'] !== '2.0') return ['not JSON-RPC 2.0']
    const { id, method, params } = message
    if (typeof method === 'string') {
      const isRequest = 'id' in message
      if (isRequest && asked[from].get(id)?.isAnswered === false) return ['an id that is in use']
      if (isRequest) asked[from].set(id, { method, isAnswered: false })
      if (toTheLetter && isOfTheRfc(from, method, params)) return []
      return named(from, method, other, isRequest ? 'Request' : 'Notification', params)
    }
    if ('error' in message) {
      // Nobody can tell which request an error without an id belongs to.
      if (id !== null && !settle(asked[other], id)) return ['an error nobody asked for']
      return fits(from, 'Error', message['error'])
    }
    const request = settle(asked[other], id)
    if (request === undefined) return ['an answer nobody asked for']
    if (!('result' in message)) return ['neither a result nor an error']
    const definition = definitionOf(request.method, from, 'Response')
    return definition === undefined ? [] : fits(from, definition, message['result'])
  }

  function named(
    from: Side,
    method: string,
    to: Side,
    kind: Kind,
    params: unknown,
  ): readonly string[] {
    const definition = definitionOf(method, to, kind)
    if (definition !== undefined) return fits(from, definition, params)
    if (from === 'client' || method.startsWith('_')) return []
    return [`${method} is not in the schema and has no underscore`]
  }
}

/** The version that was agreed on. */
function versionIn(lines: readonly Line[]): number {
  const agreed = lines.find(
    ({ from, line }) => from === 'agent' && line.includes('protocolVersion'),
  )
  return agreed === undefined ? 1 : (JSON.parse(agreed.line).result?.protocolVersion ?? 1)
}

function declaresRfc(line: string): boolean {
  if (!line.includes('"initialize"')) return false
  const { params } = JSON.parse(line)
  return params?.clientCapabilities?._meta?.lull?.rfc === true
}

function isOfTheRfc(from: Side, method: string, params: unknown): boolean {
  if (from === 'client') return method === 'session/resume'
  if (method === 'session/await_resumption') return true
  const { update } = params as { readonly update?: { readonly sessionUpdate?: string } }
  return method === 'session/update' && /^(suspended|resumed)$/.test(update?.sessionUpdate ?? '')
}

function settle(asked: ReadonlyMap<unknown, Pending>, id: unknown): Pending | undefined {
  const found = asked.get(id)
  if (found === undefined || found.isAnswered) return undefined
  found.isAnswered = true
  return found
}

/** The same schema where every value with a declared shape has no other fields than it declares. */
function close(part: unknown, isValue = false): unknown {
  if (Array.isArray(part)) return part.map((one) => close(one))
  if (typeof part !== 'object' || part === null) return part
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(part)) {
    const members = key === 'properties' || key === '$defs'
    result[key] = members
      ? Object.fromEntries(
          Object.entries(value as object).map(([name, one]) => [
            name,
            close(one, key === 'properties'),
          ]),
        )
      : close(value, key === 'items')
  }
  const isShaped = ['$ref', 'allOf', 'anyOf', 'oneOf', 'properties'].some((key) => key in result)
  if (isValue && isShaped) result['unevaluatedProperties'] = false
  return result
}

function withRfcCapabilities(part: unknown): unknown {
  const { $defs } = part as { $defs: Record<string, { properties?: Record<string, unknown> }> }
  const { properties = {} } = $defs['AgentCapabilities'] ?? {}
  for (const name of fromTheRfc) properties[name] = {}
  return part
}
