/** Binary mode: attributes are headers (`ce-…`), the body is the data and `Content-Type` says what that is. */
import type { Json, JsonObject } from '../../core/values/json.ts'
import { parseStrictJson } from '../../http/strict-json.ts'
import { headerValue, invalid } from './header-value.ts'

const PREFIX = 'ce-'

export function isBinary(headers: Headers): boolean {
  return [...headers.keys()].some((name) => name.startsWith(PREFIX))
}

/** What these would say stands elsewhere. */
const elsewhere: Readonly<Record<string, string>> = {
  'ce-datacontenttype': 'is said by Content-Type',
  'ce-data': 'is the body',
  'ce-data_base64': 'is the body',
}

export function binaryEvent(headers: Headers, body: Uint8Array): JsonObject {
  const event: Record<string, Json> = {}
  for (const [name, value] of headers) {
    if (!name.startsWith(PREFIX)) continue
    const problem = elsewhere[name]
    if (problem !== undefined) throw invalid(name, problem)
    event[name.slice(PREFIX.length)] = headerValue(name, value)
  }
  const type = headers.get('content-type')
  if (type !== null) event['datacontenttype'] = type
  return body.length === 0 ? event : { ...event, ...dataIn(type, body) }
}

const JSON_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i
const TEXT_TYPE = /^text\//i

/** As the JSON format has it: JSON is a value, text is a string, anything else is base64. */
function dataIn(type: string | null, body: Uint8Array): JsonObject {
  if (type === null || JSON_TYPE.test(type)) {
    const parsed = parseStrictJson(body)
    if (parsed.problem !== undefined) throw invalid('data', parsed.problem)
    return { data: parsed.value as Json }
  }
  const text = TEXT_TYPE.test(type) ? textIn(body) : undefined
  return text === undefined ? { data_base64: Buffer.from(body).toString('base64') } : { data: text }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for text in another encoding: its bytes are kept as they are. */
function textIn(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body)
  } catch {
    return undefined
  }
}
